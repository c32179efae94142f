import FoundationEssentials

/// Reads a sequence of DER elements (X.690 §8.1) without interpreting them.
struct DERReader {
  static let sequence: UInt8 = 0x30

  struct Element {
    var tag: UInt8
    var content: ArraySlice<UInt8>
    /// With its tag and length.
    var whole: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// `nil` at the end, and for invalid DER.
  mutating func next() -> Element? {
    let start = rest
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
    var length = Int(first)
    if first & 0x80 != 0 {
      let count = Int(first & 0x7F)
      guard (1...4).contains(count), rest.count >= count else { return nil }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
    }
    guard rest.count >= length else { return nil }
    let content = rest.prefix(length)  // checked: length is made of unsigned bytes
    rest = rest.dropFirst(length)  // checked: length is made of unsigned bytes
    return Element(tag: tag, content: content, whole: start[start.startIndex..<content.endIndex])
  }
}
