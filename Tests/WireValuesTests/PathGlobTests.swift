import Testing
import WireValues

@Suite struct PathGlobTests {
  @Test(
    "a star stays in its directory, two cross directories, and a pattern without a slash is about the last component",
    arguments: [
      ("*.iso", "a.iso", true), ("*.iso", "x/y/a.iso", true), ("*.iso", "a.iso.txt", false), ("*.iso", ".iso", true),
      ("docs/*.txt", "docs/a.txt", true), ("docs/*.txt", "docs/x/a.txt", false), ("docs/*.txt", "x/docs/a.txt", false),
      ("docs/**", "docs/x/a.txt", true), ("docs/**", "docs/a", true), ("docs/**", "docs", false),
      ("**/a.txt", "a.txt", true), ("**/a.txt", "x/y/a.txt", true), ("**/a.txt", "xa.txt", false),
      ("x/**/a", "x/a", true), ("x/**/a", "x/y/z/a", true), ("x/**/a", "xy/a", false), ("x/**/a", "x/ya", false),
      ("**", "x/y", true), ("a**c", "abc", true), ("a**/c", "ab/x/c", true), ("/a", "a", true), ("/a", "x/a", false),
      ("x/", "x", true), ("x/", "y/x", true), ("?.txt", "a.txt", true), ("?.txt", "ab.txt", false),
      ("x?y/*", "x/y/a", false), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true),
      ("[^a]", "a", false), ("[]]", "]", true), ("[a-]", "-", true), ("[!x]", "/", false), ("\\*", "*", true),
      ("\\*", "a", false), ("[\\]]", "]", true), ("ä?", "äö", true), ("*", "", true), ("a", "A", false),
    ])
  func matches(_ pattern: String, _ path: String, _ expected: Bool) throws {
    #expect(try PathGlob(pattern).matches(path) == expected)
  }

  @Test("what is no pattern is refused with a reason")
  func refused() throws {
    for (text, problem) in [
      ("", PathGlob.Problem.isEmpty), ("[a", .hasOpenBracket), ("a\\", .endsWithBackslash),
      ("a\u{7}", .hasControlCharacter),
      (String(repeating: "a", count: 1025), .isTooLong),
    ] {
      #expect(throws: problem) { try PathGlob(text) }
    }
  }

  @Test("a pattern of many stars takes linear time for each of them")
  func stars() throws {
    let glob = try PathGlob(String(repeating: "*a", count: 500))
    #expect(!glob.matches(String(repeating: "a", count: 4000) + "b"))
  }

  @Test("exclude wins, also over what is below an excluded directory")
  func filter() throws {
    let filter = PathFilter(
      included: [try PathGlob("*.txt"), try PathGlob("bin/**")],
      excluded: [try PathGlob("old"), try PathGlob("*.tmp.txt")])
    #expect(filter.wantsFile("a.txt") && filter.wantsFile("x/a.txt") && filter.wantsFile("bin/tool"))
    #expect(!filter.wantsFile("a.iso") && !filter.wantsFile("a.tmp.txt"))
    #expect(!filter.wantsFile("old/a.txt") && !filter.wantsFile("x/old/y/a.txt"))
    #expect(filter.wantsDirectory("x") && !filter.wantsDirectory("old") && !filter.wantsDirectory("x/old/y"))
    #expect(PathFilter().wantsFile("a"))
  }
}
