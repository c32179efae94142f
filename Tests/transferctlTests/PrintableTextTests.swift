import Testing

@testable import transferctl

@Suite struct PrintableTextTests {
  @Test(
    "control characters are escaped",
    arguments: [
      ("plain", "plain"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("a\r\nb", "a\\r\\nb"), ("\u{1b}[2J", "\\x1b[2J"),
      ("\0", "\\x00"), ("\u{7f}", "\\x7f"), ("\u{9b}31m", "\\x9b31m"), ("x\u{202e}gpj", "x\\u{202e}gpj"),
      ("\u{feff}x", "\\u{feff}x"), ("ファイル", "ファイル"), ("e\u{301}", "e\u{301}"), ("👩‍👩‍👧", "👩‍👩‍👧"),
    ])
  func printable(text: String, expected: String) {
    #expect(text.printable.unicodeScalars.elementsEqual(expected.unicodeScalars))
  }

  @Test(
    "the width of a text on a terminal",
    arguments: [
      ("", 0), ("abc", 3), ("ü", 1), ("e\u{301}", 1), ("ファイル", 8), ("👩‍👩‍👧", 2), ("한글", 4), ("ａ", 2),
    ])
  func columns(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test(
    "a long name is shortened in its middle",
    arguments: [
      ("abcdefghij", 10, "abcdefghij"), ("abcdefghij", 7, "abc~hij"), ("abcdefghij", 6, "abc~ij"),
      ("abcdefghij", 2, "a~"), ("abcdefghij", 1, "~"), ("abcdefghij", 0, ""), ("", 0, ""),
      ("ファイル", 6, "フ~ル"), ("ファイル", 5, "フ~ル"),
    ])
  func fitted(text: String, width: Int, expected: String) {
    #expect(text.fitted(to: width) == expected)
    #expect(text.fitted(to: width).columns <= max(width, 0))
  }

  @Test("padding counts columns, not characters")
  func padded() {
    #expect("ル".padded(to: 4) == "ル  ")
    #expect("ル".paddedLeft(to: 4) == "  ル")
    #expect("abc".padded(to: 2) == "abc")
  }
}
