import Testing
import WireValues

@Suite struct URLTextTests {
  @Test(
    "scheme, host and port are found",
    arguments: [
      ("http://a", "http", "a", nil), ("HTTPS://A/x?y#z", "https", "A", nil), ("http://a:8080/x", "http", "a", 8080),
      ("http://[::1]/x", "http", "[::1]", nil), ("http://[::1]:80?x", "http", "[::1]", 80),
      ("http://a:/", "http", "a", nil),
      ("http://user:pass@a:1#f", "http", "a", 1), ("http://a/@b@c", "http", "a", nil),
      ("s3://bucket/key", "s3", "bucket", nil),
      ("file:///etc", "file", "", nil), ("http://bücher.example/ü", "http", "bücher.example", nil),
      ("http://a?\u{308}x:y", "http", "a", nil), ("http://a?u:p@b:99999/", "http", "a", nil),
    ] as [(String, String, String, Int?)])
  func parts(text: String, scheme: String, host: String, port: Int?) throws {
    let url = try URLText(text)
    #expect(url.scheme == scheme && url.host == host && url.port == port)
  }

  @Test(
    "what is wrong is named",
    arguments: [
      ("", .isEmpty), ("http://a b/", .hasSpace), ("http://a/\r\nX: y", .hasControlCharacter("U+D")),
      ("http://a/\u{85}", .hasControlCharacter("U+85")), ("http://a/\0", .hasControlCharacter("U+0")),
      ("a/b", .hasNoScheme), ("http:/a", .hasNoScheme), ("://a", .hasNoScheme), ("1a://b", .hasNoScheme),
      ("ht\u{308}tp://a", .hasNoScheme), ("a?b://c", .hasNoScheme), ("http://a\\@b/", .hasBackslash),
      ("http://user:pa@ss@host/", .hasSeveralAts), ("http://[::1/", .hasOpenBracket),
      ("http://[::1]x/", .hasTextAfterBracket),
      ("http://[]/", .hasNoHost), ("http:///x", .hasNoHost), ("http://:80/", .hasNoHost), ("http://u@/", .hasNoHost),
      ("http://a:0/", .hasBadPort), ("http://a:65536/", .hasBadPort), ("http://a:x/", .hasBadPort),
      ("http://a:+1/", .hasBadPort), ("http://a:99999999999999999999/", .hasBadPort), ("http://a:٣/", .hasBadPort),
    ] as [(String, URLText.Problem)])
  func problems(text: String, problem: URLText.Problem) {
    #expect(throws: problem) { try URLText(text) }
    #expect(!problem.description.isEmpty)
  }
}
