import Testing

@testable import HTTPServer

@Suite struct RequestTargetTests {
  @Test(
    "the path is found in every form",
    arguments: [
      ("/", "/", []), ("/a/b", "/a/b", ["a", "b"]), ("/a//b/", "/a//b/", ["a", "b"]), ("", "/", []), ("?x=1", "/", []),
      ("http://h:80/a?x", "/a", ["a"]), ("http://h", "/", []), ("http://h?x", "/", []), ("*", "*", ["*"]),
      ("/a%2Fb/%C3%A9", "/a%2Fb/%C3%A9", ["a/b", "é"]), ("/%", "/%", ["%"]), ("/%zz", "/%zz", ["%zz"]),
      ("/%FF", "/%FF", ["%FF"]), ("/a#b?c", "/a", ["a"]), ("/a?b#c", "/a", ["a"]),
      ("/a?\u{308}b", "/a", ["a"]), ("/a/\u{308}b", "/a/\u{308}b", ["a", "\u{308}b"]),
    ] as [(String, String, [String])])
  func path(text: String, path: String, components: [String]) {
    let target = RequestTarget(text)
    #expect(target.path == path && target.components == components)
  }

  @Test(
    "query parameters are decoded, and the first one of a name counts",
    arguments: [
      ("/?a=1", "a", "1"), ("/?b=1", "a", nil), ("/", "a", nil), ("/?a", "a", ""), ("/?a=", "a", ""),
      ("/?a=1&a=2", "a", "1"), ("/?x&a=%20%C3%A9", "a", " é"), ("/?a=b=c", "a", "b=c"), ("/?a=1+1", "a", "1+1"),
      ("/?a=%zz", "a", "%zz"), ("/?&&a=1", "a", "1"), ("http://h/?a=1#a=2", "a", "1"), ("/?=1", "", "1"),
    ] as [(String, String, String?)])
  func query(text: String, name: String, value: String?) {
    #expect(RequestTarget(text)[parameter: name] == value)
  }
}
