import FoundationEssentials

/// Splits a body into lines that end with LF or CRLF.
struct BodyLines {
  /// A longer line is an error, so that a line cannot fill the memory.
  static let longest = 16 << 20

  private var buffer = Data()
  private var lines: [Data] = []
  private var index = 0

  mutating func append(_ data: Data) throws(TransferError) {
    lines.removeFirst(index)
    index = 0
    var rest = data[...]
    while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
      buffer.append(rest[..<newline])
      rest = rest[(newline + 1)...]
      keep()
    }
    buffer.append(rest)
    guard buffer.count <= Self.longest else { throw .response(.bodyTooLarge(limit: Self.longest)) }
  }

  /// The lines that are complete now; `nil` marks the end of the body.
  mutating func take(_ data: Data?) throws(TransferError) -> [Data] {
    guard let data else { return finish().map { [$0] } ?? [] }
    try append(data)
    defer { index = lines.count }
    return lines
  }

  mutating func next() -> Data? {
    guard index < lines.count else { return nil }
    defer { index += 1 }
    return lines[index]
  }

  /// The text after the last line end.
  mutating func finish() -> Data? {
    keep()
    return next()
  }

  private mutating func keep() {
    if buffer.last == UInt8(ascii: "\r") { buffer.removeLast() }
    if !buffer.isEmpty { lines.append(buffer) }
    buffer = Data()
  }
}
