import Testing
import WireValues

@Suite struct ASCIITextTests {
  @Test("a delimiter with a combining mark is a delimiter, as it is for a server")
  func combiningMarks() {
    let url = "https://\u{301}u:p@\u{301}h/a?\u{301}x=\u{301}1&\u{301}y=2"
    #expect(url.prefix(upToASCII: "?").utf8.elementsEqual("https://\u{301}u:p@\u{301}h/a".utf8))
    #expect(url.firstRange(ofASCII: "://").map { url[$0] == "://" } != nil)
    #expect(url.split(atASCII: "&").count == 2)
    #expect(
      SecretNames.redacted(pairs: "\u{301}a=b&\u{301}token=PLANTED;\u{301}key=\u{301}PLANTED").contains("PLANTED")
        == false)
  }

  @Test(
    "text is split at delimiters",
    arguments: [
      ("a&b;c", 9, false, ["a", "b", "c"]), ("&a&&", 9, false, ["a"]), ("&a&&", 9, true, ["", "a", "", ""]),
      ("a&b&c", 1, true, ["a", "b&c"]), ("", 9, true, [""]), ("", 9, false, []),
    ])
  func split(_ text: String, _ maximum: Int, _ keepsEmpty: Bool, _ pieces: [String]) {
    #expect(text.split(atASCII: "&;", maximum: maximum, keepsEmpty: keepsEmpty).map(String.init) == pieces)
  }
}
