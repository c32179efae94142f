import Testing
import TransferAPI

@testable import transferctl

@Suite struct SyntaxTests {
  @Test(
    "valid URLs are accepted",
    arguments: [
      "http://a", "https://a/", "HTTPS://A/x?y#z", "http://a:8080/x", "http://[::1]/x", "http://[::1]:80/x",
      "http://user:pass@a/x", "http://a/%20x", "http://bücher.example/ü", "http://a:/", "http://a/@b@c",
    ])
  func good(url: String) {
    #expect(throws: Never.self) { try Syntax.check(url: url) }
  }

  @Test(
    "invalid URLs are refused",
    arguments: [
      "", "a/b", "http:", "http://", "http:///x", "http://:80/", "gopher://a/x", "file:///etc/passwd",
      "gopher://a", "dict://a", "smb://a/b", "javascript://a", "http://a b/", "http://a/b c",
      "http://a/\r\nX: y",
      "http://a/\0", "http://a/\u{7f}", "http://a/\u{85}", "http://a\t/", "http://user:pa@ss@host/",
      "http://a:0/", "http://a:65536/", "http://a:x/", "http://[::1/", "http://[]/", "http://[::1]x/",
      "http://a\\@b/", "data:text/plain,x",
    ])
  func bad(url: String) {
    #expect(throws: WireError.self) { try Syntax.check(url: url) }
  }

  @Test("a message about a URL contains no password")
  func redacted() {
    let error = #expect(throws: WireError.self) { try Syntax.check(url: "gopher://user:secret@a/?token=t0k") }
    #expect(error?.description.contains("secret") == false)
    #expect(error?.description.contains("t0k") == false)
  }

  @Test(
    "valid headers are accepted",
    arguments: [
      ("X-A: b", "X-A", "b"), ("X-A:b", "X-A", "b"), ("X-A:  b c\t", "X-A", "b c"), ("X-A:", "X-A", ""),
      ("Referer: http://a:8/", "Referer", "http://a:8/"), ("X: ü", "X", "ü"),
    ])
  func header(text: String, name: String, value: String) throws {
    let header = try Syntax.header(text)
    #expect(header.name == name)
    #expect(header.value == value)
  }

  @Test(
    "invalid headers are refused",
    arguments: [
      "", "X-A", ": b", "X A: b", "X-A : b", "X\r\nY: b", "X-A: b\r\nY: c", "X-A: b\nY: c", "X: \0",
      "Host: a", "host: a", "Content-Length: 1", "Range: bytes=0-", "Transfer-Encoding: chunked",
      "Connection: close", "If-Range: \"x\"", "Accept-Encoding: gzip", "Ü: a",
    ])
  func badHeader(text: String) {
    #expect(throws: WireError.self) { _ = try Syntax.header(text) }
  }

  @Test(
    "-o accepts names and paths, but no directory and no `..`",
    arguments: [
      ("a", true), ("a/b", true), ("/abs/b", true), ("./a", true), ("-rf", true), ("..a", true), ("", false),
      ("-", false), ("a/", false), (".", false), ("a/.", false), ("..", false), ("../a", false),
      ("a/../b", false), ("a\0b", false), (String(repeating: "n", count: 255), true),
      (String(repeating: "n", count: 256), false), (String(repeating: "ü", count: 128), false),
    ])
  func outputName(name: String, isGood: Bool) {
    #expect(((try? Syntax.check(outputName: name)) != nil) == isGood)
  }
}
