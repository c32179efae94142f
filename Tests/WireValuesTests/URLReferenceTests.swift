import Testing

@testable import WireValues

@Suite struct URLReferenceTests {
  /// RFC 3986 §5.4, with the base `http://a/b/c/d;p?q`. References with a scheme stay as they are written.
  static let examples: [(String, String)] = [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
    ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g:h", "g:h"), ("https://x/../y", "https://x/../y"), ("a/b//c", "http://a/b/c/a/b//c"),
  ]

  @Test("the examples of RFC 3986", arguments: examples)
  func resolution(_ reference: String, _ url: String) {
    #expect(URLReference("http://a/b/c/d;p?q").resolving(reference) == url)
  }

  @Test(
    "other bases",
    arguments: [
      ("http://a", "g", "http://a/g"), ("http://a?q", "g", "http://a/g"),
      ("http://u:p@[::1]:8/x", "g", "http://u:p@[::1]:8/g"),
      ("http://a/b/", "?y", "http://a/b/?y"), ("ftp://a/b/c", "../d", "ftp://a/d"), ("http://a/b#f", "g", "http://a/g"),
      ("http://a/b", "1:2", "http://a/1:2"), ("http://a/b?x:y/z", "g", "http://a/g"),
    ])
  func bases(_ base: String, _ reference: String, _ url: String) {
    #expect(URLReference(base).resolving(reference) == url)
  }

  @Test(
    "names of files from URLs are safe",
    arguments: [
      ("http://H.Test:80/a/b%20c.iso?x=/y", "h.test", ["a"], "b c.iso"),
      ("http://u:p@[::1]:80/", "::1", [], nil), ("http://h", "h", [], nil),
      ("http://h/a/../../b/./c", "h", ["b"], "c"), ("http://h/%2e%2e/%2e%2e%2fetc/x", "h", ["etc"], "x"),
      ("http://h/.ssh/%2E.", "h", ["_ssh"], nil), ("http://h//a//b", "h", ["a"], "b"), ("http://../x", nil, [], "x"),
    ] as [(String, String?, [String], String?)])
  func names(_ url: String, _ host: String?, _ directories: [String], _ name: String?) {
    let names = URLNames(url)
    #expect(names.host == host)
    #expect(names.directories == directories)
    #expect(names.name == name)
  }
}
