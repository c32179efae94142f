import Testing

@Suite struct PathTextTests {
  @Test(
    "a path is split at its slashes",
    arguments: [
      ("/a/b", "/a", "b", ["a", "b"]), ("/a", "/", "a", ["a"]), ("/", "/", "", []), ("a", ".", "a", ["a"]),
      ("a/b", "a", "b", ["a", "b"]), ("/a/", "/a", "", ["a"]), ("//a//b", "//a/", "b", ["a", "b"]), ("", ".", "", []),
      ("/./..", "/.", "..", [".", ".."]),
    ])
  func split(_ path: String, _ parent: String, _ name: String, _ components: [String]) {
    #expect(path.parentPath == parent)
    #expect(path.baseName == name)
    #expect(String(path.beforeBaseName) + String(path.baseName) == path)
    #expect(path.componentsOfPath.map(String.init) == components)
  }

  @Test("a slash with a combining mark is a slash, as it is for the kernel")
  func combiningMark() {
    let path = "/srv/..\u{2F}\u{301}secret"
    #expect(path.componentsOfPath.map(String.init) == ["srv", "..", "\u{301}secret"])
    #expect(path.parentPath == "/srv/..")
    #expect(path.baseName == "\u{301}secret")
    #expect(path.beforeBaseName.utf8.elementsEqual("/srv/../".utf8))
    #expect("/\u{301}a".isAbsolutePath)
    #expect("a/\u{301}".containsSlash)
    #expect(!"a/\u{301}".hasTrailingSlash)
  }

  @Test("a name is appended with one slash")
  func append() {
    #expect("/a".appendingName("b") == "/a/b")
    #expect("/".appendingName("b") == "/b")
    #expect("/a/".appendingName("b") == "/a/b")
    #expect("/a/".withoutTrailingSlash == "/a")
    #expect("/".withoutTrailingSlash == "/")
    #expect("/a".withoutTrailingSlash == "/a")
  }
}
