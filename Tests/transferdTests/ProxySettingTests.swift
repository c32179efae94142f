import Testing
import TransferAPI
import TransferEngine

@testable import transferd

@Suite struct ProxySettingTests {
  private func server(_ choice: ProxyChoice, _ url: String) throws -> String? {
    choice.configuration.server(for: try RequestURL(url))?.description
  }

  @Test(
    "the setting is none, environment or the URL of a proxy",
    arguments: [
      ("none", true), ("environment", true), ("http://h:3128", true), ("socks5h://u:p@h", true), ("", false),
      ("h:3128", false), ("ftp://h", false), ("http://h/path", false), ("http://", false),
    ])
  func source(_ text: String, _ isValid: Bool) {
    #expect((ProxySetting.source(text) != nil) == isValid)
  }

  @Test("a configured proxy is used for all hosts but the exceptions")
  func configured() throws {
    var setting = ProxySetting()
    #expect(try setting.choice(environment: ["http_proxy": "http://other:1"]) == .direct)
    setting.source = try #require(ProxySetting.source("http://h:3128"))
    setting.exceptions = [".example.org"]
    setting.credentials = .netrc
    let choice = try setting.choice(environment: [:])
    #expect(choice.credentials == .netrc)
    #expect(try server(choice, "https://a.test/") == "http://h:3128")
    #expect(try server(choice, "ftp://a.test/x") == "http://h:3128")
    #expect(try server(choice, "https://www.example.org/") == nil)
  }

  @Test("the environment's proxies are used only if the setting says so, and its exceptions unless there are others")
  func environment() throws {
    let variables = ["http_proxy": "http://h:1", "https_proxy": "http://s:2", "no_proxy": "a.test"]
    var setting = ProxySetting()
    setting.source = .environment
    let choice = try setting.choice(environment: variables)
    #expect(try server(choice, "http://b.test/") == "http://h:1" && server(choice, "https://b.test/") == "http://s:2")
    #expect(try server(choice, "http://a.test/") == nil)
    setting.exceptions = ["b.test"]
    let other = try setting.choice(environment: variables)
    #expect(try server(other, "http://a.test/") == "http://h:1" && server(other, "http://b.test/") == nil)
    #expect(throws: TransferError.self) { try setting.choice(environment: ["http_proxy": "ftp://h"]) }
  }

  @Test("a job's proxy takes precedence, for all hosts")
  func job() throws {
    var options = JobOptions.Network()
    #expect(try ProxyChoice(options) == nil)
    options.proxy = "none"
    #expect(try ProxyChoice(options) == .direct)
    options.proxy = "socks5h://h:1080"
    options.proxyCredentials = .environment("P")
    let choice = try #require(try ProxyChoice(options))
    #expect(try server(choice, "http://localhost/") == "socks5h://h:1080" && choice.credentials == .environment("P"))
  }
}
