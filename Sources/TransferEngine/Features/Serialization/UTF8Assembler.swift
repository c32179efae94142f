public import FoundationEssentials

/// Makes UTF-8 text of pieces that may end within a character: the incomplete end, at most three bytes, waits for the
/// next piece.
public struct UTF8Assembler: Sendable {
  private var tail: [UInt8] = []

  /// An empty assembler.
  public init() {}

  /// The text that is complete now. Invalid UTF-8 becomes U+FFFD.
  public mutating func append(_ data: Data) -> String {
    var bytes = tail
    bytes.append(contentsOf: data)
    let cut = bytes.count - Self.unfinished(bytes)
    tail = Array(bytes[cut...])
    return String(decoding: bytes[..<cut], as: UTF8.self)
  }

  /// What is left at the end; incomplete characters become U+FFFD.
  public mutating func finish() -> String {
    defer { tail = [] }
    return String(decoding: tail, as: UTF8.self)
  }

  /// Bytes at the end that begin a character without completing it.
  private static func unfinished(_ bytes: [UInt8]) -> Int {
    for back in 1...4 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back && back < 4 ? back : 0
    }
    return 0
  }
}
