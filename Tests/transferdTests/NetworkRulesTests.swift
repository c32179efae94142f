import Testing
import TransferAPI
import TransferEngine

@testable import transferd

@Suite struct NetworkRulesTests {
  private static let daemon: UInt32 = 900
  private static let member: UInt32 = 1001

  @Test(
    "the policy depends on the user and the configuration",
    arguments: [
      (nil, 900, RedirectPolicy.any, false), (nil, 0, .any, false), (nil, 1001, .public, true),
      (.any, 1001, .any, false), (.any, 900, .any, false), (.public, 900, .public, false),
      (.public, 1001, .public, true),
      (.sameOrigin, 900, .sameOrigin, false), (.sameOrigin, 0, .sameOrigin, false),
      (.sameOrigin, 1001, .sameOrigin, true),
    ] as [(RedirectPolicy?, UInt32, RedirectPolicy, Bool)])
  func table(_ configured: RedirectPolicy?, _ owner: UInt32, _ redirects: RedirectPolicy, _ isPublicOnly: Bool) throws {
    let rules = NetworkRules(.init(redirects: configured), daemon: Self.daemon)
    var request = TransferRequest(url: try RequestURL("http://example.org/"))
    rules.apply(to: &request, of: owner)
    #expect(request.redirects == redirects)
    #expect(request.requiresPublicAddress == isPublicOnly)
  }

  @Test(
    "a member's job with a non-public URL is refused when it is added",
    arguments: ["http://127.0.0.1:8080/", "http://localhost/", "ftp://10.0.0.1/a", "https://[fd00::1]/"])
  func refused(_ url: String) throws {
    let rules = NetworkRules(daemon: Self.daemon)
    let problem = try #require(throws: Problem.self) { try rules.check([url], of: Self.member) }
    #expect(problem.code == .permission)
    #expect(problem.code.status == 403)
    try rules.check([url], of: 0)
    try rules.check([url], of: Self.daemon)
  }

  @Test("host names and buckets are checked by the attempt", arguments: ["https://intranet/", "s3://localhost/key"])
  func later(_ url: String) {
    #expect(throws: Never.self) { try NetworkRules(daemon: Self.daemon).check([url], of: Self.member) }
  }

  @Test("a reload changes the policy and the proxy")
  func reload() {
    let rules = NetworkRules(daemon: Self.daemon)
    let proxy = ProxyChoice(ProxyConfiguration(ProxyServer(host: "proxy.example", port: 3128)))
    rules.set(.init(redirects: .any, proxy: proxy))
    #expect(rules.redirects(for: Self.member) == .any && rules.proxy(for: "https://example.org:443") == proxy)
    rules.set(.init())
    #expect(rules.redirects(for: Self.member) == .public && rules.proxy(for: "https://example.org:443") == .direct)
  }
}
