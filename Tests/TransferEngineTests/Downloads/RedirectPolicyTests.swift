import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RedirectPolicyTests {
  private static let file = FileBehaviour.file(Payload(size: 10_000))

  private static func session(_ policy: RedirectPolicy, proxy: UInt16? = nil) -> Session {
    var configuration = SessionConfiguration()
    configuration.redirects = policy
    configuration.proxy = proxy.map { ProxyConfiguration(ProxyServer(.http, host: "127.0.0.1", port: Int($0))) }
    return Session(configuration: configuration)
  }

  private static func isRefused(_ error: TransferError?) -> Bool {
    if case .redirect(.refused)? = error { error?.isTransient == false } else { false }
  }

  private static func isAddressRefused(_ error: TransferError?) -> Bool {
    if case .connection(.addressRefused)? = error { error?.isTransient == false } else { false }
  }

  /// Downloads into a directory that exists until the download has ended.
  private static func download(_ request: TransferRequest, _ session: Session = Session()) async throws -> FileResponse
  {
    let fixture = try DownloadFixture(session)
    let response = try await fixture.download(request).response()
    #expect(try fixture.names() == (response.isSuccess ? [DownloadFixture.name] : []))
    return response
  }

  @Test("the policy `public` refuses a redirect to this machine and opens no connection", arguments: ["", "localhost"])
  func publicOnly(_ host: String) async throws {
    let target = try LoopbackServer(Self.file)
    let location = host.isEmpty ? target.url("/x") : "http://\(host):\(target.port)/x"
    let server = try LoopbackServer(Self.file.redirecting(to: location))
    let fixture = try DownloadFixture(Self.session(.public))
    let download = try await fixture.download(server).response()
    #expect(Self.isRefused(download.error), "\(String(describing: download.error))")
    #expect(download.error?.description.contains("loopback") == true)
    let data = await fixture.session.request(server.url("/")).response()
    #expect(Self.isRefused(data.error))
    #expect(target.counters.connections == 0)
    #expect(try fixture.names() == [])
  }

  @Test("the policy `public` refuses a redirect to this machine, also if a connection is open")
  func keptConnection() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .response(200, text: $0.path) }
    let response = await Self.session(.public).request(server.url("/a")).response()
    #expect(Self.isRefused(response.error))
    #expect(server.requests.map(\.path) == ["/a"])
  }

  @Test("the policy `same-origin` refuses a redirect to another origin")
  func sameOrigin() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(files: [
      "/away": Self.file.redirecting(to: target.url("/x")), "/near": Self.file.redirecting(to: "/here"),
      "/here": Self.file,
    ])
    let session = Self.session(.sameOrigin)
    let away = try await Self.download(.of(server, "/away"), session)
    #expect(Self.isRefused(away.error))
    #expect(target.counters.connections == 0)
    #expect(try await Self.download(.of(server, "/near"), session).isSuccess)
  }

  @Test("a request's own policy comes before the session's")
  func ownPolicy() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(Self.file.redirecting(to: target.url("/x")))
    var request = try TransferRequest.of(server)
    request.redirects = .any
    #expect(try await Self.download(request, Self.session(.sameOrigin)).isSuccess)
    request.redirects = .sameOrigin
    #expect(Self.isRefused(try await Self.download(request, Self.session(.any)).error))
  }

  @Test("a redirect handler cannot bypass the policy")
  func handler() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(Self.file.redirecting(to: "http://192.0.2.1/"))
    let url = try RequestURL(target.url("/x"))
    var configuration = SessionConfiguration()
    configuration.redirects = .public
    let session = Session(
      configuration: configuration, redirectHandler: .modify { _, _ in TransferRequest(url: url) })
    let response = await session.request(server.url("/")).response()
    #expect(Self.isRefused(response.error))
    #expect(target.counters.connections == 0)
  }

  // MARK: Public addresses only

  @Test("requiresPublicAddress refuses a request to this machine, also if a connection is open")
  func firstURL() async throws {
    let server = try LoopbackServer(Self.file)
    let session = Session()
    var request = try TransferRequest.of(server)
    request.requiresPublicAddress = true
    let refused = try await Self.download(request, session)
    #expect(Self.isAddressRefused(refused.error), "\(String(describing: refused.error))")
    #expect(refused.error?.description.contains("127.0.0.1 is a loopback address") == true)
    #expect(server.counters.connections == 0)
    // Another request puts a connection into the pool.
    #expect(try await Self.download(.of(server), session).isSuccess)
    let again = try await Self.download(request, session)
    #expect(Self.isAddressRefused(again.error))
    #expect(server.requests.count == 1)
    // The refusal has not closed the connection of other requests.
    #expect(try await Self.download(.of(server), session).isSuccess)
  }

  @Test("FTP and SFTP servers on this machine are refused as well", arguments: ["ftp", "ftps", "sftp", "scp"])
  func otherProtocols(_ scheme: String) async throws {
    let server = try LoopbackServer { _ in .response(200) }
    var request = TransferRequest(url: try RequestURL("\(scheme)://u:p@127.0.0.1:\(server.port)/a"))
    request.requiresPublicAddress = true
    let response = try await Self.download(request)
    #expect(Self.isAddressRefused(response.error), "\(String(describing: response.error))")
    #expect(server.counters.connections == 0)
  }

  @Test("a public address is connected to")
  func publicAddress() async throws {
    // The result depends on the network; the test only checks that the address is not refused.
    var request = TransferRequest(url: try RequestURL("http://1.1.1.1:9/"), connectTimeout: .milliseconds(200))
    request.requiresPublicAddress = true
    let error = try await Self.download(request).error
    #expect(!Self.isAddressRefused(error), "\(String(describing: error))")
  }

  // MARK: Proxies

  @Test(
    "requiresPublicAddress refuses a private address before a proxy is contacted",
    arguments: ["http://10.0.0.1/", "https://[::1]/", "http://localhost/", "http://127.1/", "ftp://192.168.1.1/a"])
  func proxy(_ url: String) async throws {
    let proxy = try LoopbackServer { _ in .response(200, text: "secret") }
    var request = TransferRequest(url: try RequestURL(url))
    request.requiresPublicAddress = true
    let response = try await Self.download(request, Self.session(.any, proxy: proxy.port))
    #expect(Self.isAddressRefused(response.error), "\(String(describing: response.error))")
    #expect(proxy.counters.connections == 0)
  }

  @Test("a proxy on this machine may be used for public addresses")
  func publicThroughProxy() async throws {
    let proxy = try LoopbackServer(Self.file)
    var request = TransferRequest(url: try RequestURL("http://93.184.216.34/a"))
    request.requiresPublicAddress = true
    let fixture = try DownloadFixture(Self.session(.any, proxy: proxy.port))
    #expect(try await fixture.download(request).response().isSuccess)
    #expect(proxy.requests.map(\.target) == ["http://93.184.216.34/a"])
  }
}
