import Testing
import WireValues

@Suite struct ShellWordsTests {
  @Test(
    "words are parted as a shell does, and nothing is expanded",
    arguments: [
      ("a b  c", ["a", "b", "c"]), ("'a b' \"c d\"", ["a b", "c d"]), ("a\\ b", ["a b"]), ("a'b'\"c\"", ["abc"]),
      ("''", [""]), ("$HOME *", ["$HOME", "*"]), ("\"a\\\"b\"", ["a\"b"]), ("'a\\b'", ["a\\b"]), ("", []), ("  ", []),
    ])
  func words(_ text: String, _ expected: [String]) throws {
    #expect(try ShellWords.split(text) == expected)
  }

  @Test("an open quote and a backslash at the end are errors")
  func problems() {
    #expect(throws: ShellWords.Problem.hasOpenQuote) { try ShellWords.split("a 'b") }
    #expect(throws: ShellWords.Problem.endsWithBackslash) { try ShellWords.split("a\\") }
  }
}
