import Testing

@testable import TransferEngine

@Suite struct NumberedNamesTests {
  @Test(
    "the number stands before the last extension",
    arguments: [
      ("a.tar.gz", "a.tar.1.gz"), (".rc", ".rc.1"), ("a", "a.1"), ("a.txt", "a.1.txt"), (".a.txt", ".a.1.txt"),
      ("a.", "a..1"), ("..a", "..a.1"), ("a.b c", "a.1.b c"), ("ä.ö", "ä.1.ö"), ("...", "....1"),
      ("a.extension-that-is-none", "a.extension-that-is-none.1"),
    ])
  func names(_ name: String, _ first: String) {
    #expect(Array(NumberedNames(name).prefix(2)) == [name, first])
  }

  @Test("names are different, short enough, and their number is limited")
  func limits() {
    for name in [
      "a.txt", String(repeating: "a", count: 255), String(repeating: "a", count: 251) + ".txt",
      String(repeating: "ä", count: 127), "a" + String(repeating: ".b", count: 127),
      "a." + String(repeating: "b", count: 253),
    ] {
      let names = Array(NumberedNames(name))
      #expect(names.count == 10_000 && Set(names).count == 10_000, "\(name)")
      #expect(names.allSatisfy { $0.utf8.count <= 255 && !$0.contains("/") && !$0.isEmpty })
    }
    #expect(Array(NumberedNames("a.txt")).last == "a.9999.txt")
    #expect(Array(NumberedNames(String(repeating: "a", count: 251) + ".txt"))[9].hasSuffix("a.9.txt"))
  }
}
