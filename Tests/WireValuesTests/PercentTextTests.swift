import Testing
import WireValues

@Suite struct PercentTextTests {
  @Test(
    "escapes are decoded; invalid ones and bytes that are not UTF-8 have no text",
    arguments: [
      ("plain", "plain"), ("", ""), ("a%20b%2Fc", "a b/c"), ("%c3%BC", "ü"), ("%25", "%"), ("%", nil), ("%2", nil),
      ("%zz", nil), ("%+f", nil), ("%-0", nil), ("a%FF", nil),
    ] as [(String, String?)])
  func decoded(_ text: String, _ expected: String?) { #expect(text.percentDecoded == expected) }

  @Test("bytes need not be UTF-8")
  func bytes() {
    #expect("a%FF".percentDecodedBytes == [0x61, 0xFF])
    #expect("%+f".percentDecodedBytes == nil)
  }

  @Test("an invalid escape can stand for itself")
  func lenient() {
    #expect(PercentEscapes.decoded(Array("%41%zz%4".utf8), keepsInvalid: true) == Array("A%zz%4".utf8))
  }

  @Test("every byte that is not kept is encoded")
  func encoded() {
    #expect("a b/ü~".percentEncoded { $0.isUnreserved } == "a%20b%2F%C3%BC~")
  }

  @Test(
    "pairs of hexadecimal digits are bytes",
    arguments: [("00ffA1", [0, 0xFF, 0xA1]), ("", []), ("0", nil), ("0g", nil), ("+1", nil), ("١١", nil)]
      as [(String, [UInt8]?)])
  func hexadecimal(_ text: String, _ bytes: [UInt8]?) { #expect([UInt8](hex: text) == bytes) }
}
