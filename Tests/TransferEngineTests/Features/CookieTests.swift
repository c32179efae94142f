import Foundation
import Testing

@testable import TransferEngine

@Suite struct CookieTests {
  private static let now = Date(timeIntervalSince1970: 1_000_000)

  private func field(_ cookies: [Cookie], _ url: String) throws -> String? {
    Cookie.field(cookies, for: try RequestURL(url), now: Self.now)
  }

  @Test(
    "a cookie is sent to its domain, path and protocol only",
    arguments: [
      // domain, includes subdomains, path, secure, URL, is sent
      ("host.example", true, "/", false, "http://host.example/a", true),
      ("host.example", true, "/", false, "http://HOST.example/a", true),
      ("host.example", true, "/", false, "http://www.host.example/", true),
      ("host.example", false, "/", false, "http://www.host.example/", false),
      ("host.example", true, "/", false, "http://otherhost.example/", false),
      ("host.example", true, "/", false, "http://example/", false),
      ("0.0.1", true, "/", false, "http://127.0.0.1/", false),
      ("127.0.0.1", true, "/", false, "http://127.0.0.1/", true),
      ("h", true, "/a", false, "http://h/a", true),
      ("h", true, "/a", false, "http://h/a/b", true),
      ("h", true, "/a", false, "http://h/ab", false),
      ("h", true, "/a/", false, "http://h/a/b", true),
      ("h", true, "/a/", false, "http://h/a", false),
      ("h", true, "/", true, "http://h/", false),
      ("h", true, "/", true, "https://h/", true),
    ])
  func applies(
    _ domain: String, _ includesSubdomains: Bool, _ path: String, _ isSecure: Bool, _ url: String, _ isSent: Bool
  ) throws {
    let cookie = Cookie(
      name: "a", value: "b", domain: domain, includesSubdomains: includesSubdomains, path: path, isSecure: isSecure)
    #expect(try field([cookie], url) == (isSent ? "a=b" : nil))
  }

  @Test("an expired cookie is not sent, and longer paths come first")
  func order() throws {
    func cookie(_ name: String, _ path: String, _ expires: Double? = nil) -> Cookie {
      Cookie(name: name, value: "1", domain: "h", path: path, expires: expires.map(Date.init(timeIntervalSince1970:)))
    }
    let cookies = [
      cookie("old", "/", 1_000_000), cookie("root", "/", 1_000_001), cookie("deep", "/a/b"), cookie("second", "/"),
    ]
    #expect(try field(cookies, "http://h/a/b/c") == "deep=1; root=1; second=1")
  }

  @Test("a field has at most 150 cookies and 8190 bytes")
  func limits() throws {
    let many = (0..<1000).map { Cookie(name: "c\($0)", value: "", domain: "h") }
    #expect(try field(many, "http://h/")?.split(separator: ";").count == 150)
    let large = (0..<10).map { Cookie(name: "c\($0)", value: String(repeating: "x", count: 2000), domain: "h") }
    #expect(try #require(try field(large, "http://h/")).utf8.count <= 8190)
  }

  @Test("a cookie file is read as curl and wget write it")
  func netscape() throws {
    let text = """
      # Netscape HTTP Cookie File
      # a comment

      .host.example\tTRUE\t/\tFALSE\t0\tsession\tone two
      #HttpOnly_host.example\tFALSE\t/a\ttrue\t2000000000\thidden\t"quoted=="\r
      host.example\tFALSE\t/\tFALSE\t0\tempty
      """
    #expect(
      try Cookie.cookies(inNetscape: text) == [
        Cookie(name: "session", value: "one two", domain: "host.example"),
        Cookie(
          name: "hidden", value: "\"quoted==\"", domain: "host.example", includesSubdomains: false, path: "/a",
          isSecure: true, expires: Date(timeIntervalSince1970: 2_000_000_000)),
        Cookie(name: "empty", value: "", domain: "host.example", includesSubdomains: false),
      ])
    #expect(try Cookie.cookies(inNetscape: "").isEmpty)
  }

  @Test(
    "a wrong line is named by its number, without its text",
    arguments: [
      "h TRUE / FALSE 0 secret value", "h\tTRUE\t/\tFALSE\t0", "\tTRUE\t/\tFALSE\t0\tsecret\tv",
      "h\tYES\t/\tFALSE\t0\tsecret\tv", "h\tTRUE\ta\tFALSE\t0\tsecret\tv", "h\tTRUE\t/\tFALSE\tsoon\tsecret\tv",
      "h\tTRUE\t/\tFALSE\t-1\tsecret\tv", "h\tTRUE\t/\tFALSE\t99999999999999999999\tsecret\tv",
      "h\tTRUE\t/\tFALSE\t0\tsecret\ta;b", "h\tTRUE\t/\tFALSE\t0\tsec=ret\tv", "h\tTRUE\t/\tFALSE\t0\tsecret\ta\u{1}",
      "h\tTRUE\t/\tFALSE\t0\tsecret\tv\tmore", "<html>secret</html>",
    ])
  func wrongLine(_ line: String) {
    #expect(throws: Cookie.InvalidFile(line: 2)) { try Cookie.cookies(inNetscape: "# first\n\(line)\n") }
    #expect(!"\(Cookie.InvalidFile(line: 2))".contains("secret"))
  }

  @Test("a description of a cookie has no value")
  func description() {
    let cookie = Cookie(name: "a", value: "s3cret", domain: "h")
    var dumped = ""
    dump(cookie, to: &dumped)
    #expect(!"\(cookie)".contains("s3cret") && !dumped.contains("s3cret"))
  }
}
