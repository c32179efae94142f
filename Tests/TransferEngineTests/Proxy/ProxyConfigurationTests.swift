import Testing

@testable import TransferEngine

@Suite struct NoProxyListTests {
  @Test(
    "the no-proxy list matches hosts, domains, ports and networks",
    arguments: [
      ("", "example.com", false), ("*", "example.com", true), ("example.com", "example.com", true),
      ("example.com", "www.example.com", true), (".example.com", "example.com", true),
      (".example.com", "www.example.com", true), ("*.example.com", "www.example.com", true),
      ("*.example.com", "example.com", true), ("example.com", "badexample.com", false),
      ("example.com", "example.com.evil.test", false), ("www.example.com", "example.com", false),
      ("EXAMPLE.com", "example.COM", true), ("example.com.", "example.com", true),
      ("example.com", "example.com.", true),
      ("other.test,example.com", "example.com", true), ("other.test example.com", "example.com", true),
      (" other.test ,\t example.com ", "example.com", true), (",,,", "example.com", false),
      ("example.com:8080", "example.com", false), ("example.com:80", "example.com", true),
      ("example.com:0", "example.com", false), ("example.com:x", "example.com", false),
      ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1:80", "127.0.0.1", true), ("127.0.0.1:81", "127.0.0.1", false),
      ("0.0.1", "127.0.0.1", false), (".0.0.1", "127.0.0.1", false), ("127.0.0.1", "127.0.0.11", false),
      ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.128/25", "192.0.2.200", true),
      ("192.0.2.128/25", "192.0.2.100", false), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "example.com", false),
      ("10.0.0.0/33", "10.0.0.1", false), ("10.0.0.0/", "10.0.0.1", false), ("10.0.0.0/-1", "10.0.0.1", false),
      ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("[::1]:80", "[::1]", true), ("[::1]:81", "[::1]", false),
      ("0:0:0:0:0:0:0:1", "[::1]", true), ("2001:db8::/32", "[2001:db8:1::5]", true),
      ("2001:db8::/32", "[2001:db9::1]", false), ("::/0", "127.0.0.1", false), ("fe80::1", "[fe80::1%25eth0]", true),
      ("localhost", "localhost", true), ("localhost", "127.0.0.1", false), (".", "example.com", false),
      ("*.", "example.com", false), ("com", "example.com", true),
    ])
  func matching(_ list: String, _ host: String, _ expected: Bool) {
    #expect(NoProxyList(parsing: list).contains(host: host, port: 80) == expected)
  }
}

@Suite struct ProxyConfigurationTests {
  @Test(
    "a proxy is parsed from text",
    arguments: [
      ("http://p:3128", "http://p:3128", nil), ("p:3128", "http://p:3128", nil), ("p", "http://p:1080", nil),
      ("https://p", "https://p:443", nil), ("socks5://p", "socks5://p:1080", nil),
      ("SOCKS5H://P:9050/", "socks5h://p:9050", nil), ("http://u:p%40ss@p:80", "http://p:80", "u:p@ss"),
      ("http://[::1]:3128", "http://[::1]:3128", nil), ("u:p@127.0.0.1:1", "http://127.0.0.1:1", "u:p"),
    ] as [(String, String, String?)])
  func parsing(_ text: String, _ url: String, _ login: String?) throws {
    let server = try ProxyServer(text)
    #expect(server.url == url)
    #expect(server.credentials.map { "\($0.username):\($0.password)" } == login)
    #expect(!"\(server)".contains("p@ss"))
  }

  @Test(
    "an invalid proxy is refused, and the error contains no password",
    arguments: [
      "", "ftp://p", "socks4://p", "http://", "http://p/path", "http://p?x", "http://a b", "http://u:secret@",
    ])
  func refused(_ text: String) {
    let error = #expect(throws: TransferError.self) { try ProxyServer(text) }
    #expect(!"\(String(describing: error))".contains("secret"))
  }

  @Test("a proxy configuration is read from environment variables")
  func environment() throws {
    let configuration = try ProxyConfiguration.environment([
      "http_proxy": "a:1", "HTTPS_PROXY": "b:2", "ALL_PROXY": "socks5h://c:3", "no_proxy": "x.test",
      "HTTP_PROXY": "evil:666",
    ])
    func proxy(_ url: String) throws -> String? { configuration.server(for: try RequestURL(url))?.url }
    #expect(try proxy("http://h/") == "http://a:1")
    #expect(try proxy("https://h/") == "http://b:2")
    #expect(configuration.other?.url == "socks5h://c:3")
    #expect(try proxy("http://www.x.test/") == nil)
    // CVE-2016-5385
    #expect(try ProxyConfiguration.environment(["HTTP_PROXY": "evil:666"]).http == nil)
    #expect(try ProxyConfiguration.environment(["http_proxy": "", "all_proxy": "p:1"]).http?.url == "http://p:1")
    #expect(try ProxyConfiguration.environment(["https_proxy": "low:1", "HTTPS_PROXY": "up:2"]).https?.host == "low")
    #expect(try ProxyConfiguration.environment([:]) == ProxyConfiguration())
    #expect(throws: TransferError.self) { try ProxyConfiguration.environment(["all_proxy": "gopher://p"]) }
  }
}
