import FoundationEssentials

/// Cuts a stream of bytes into lines that end with LF. What is after the last LF waits for more.
struct LineSplitter {
  private var pending = Data()

  mutating func push(_ chunk: Data) -> [Data] {
    var lines: [Data] = []
    var rest = chunk[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if pending.isEmpty {
        lines.append(Data(rest[..<end]))
      } else {
        pending.append(rest[..<end])
        lines.append(pending)
        pending = Data()
      }
      rest = rest[(end + 1)...]  // checked: an index of the chunk
    }
    pending.append(rest)
    return lines
  }

  /// The last line where the stream did not end with LF.
  mutating func finish() -> Data? {
    defer { pending = Data() }
    return pending.isEmpty ? nil : pending
  }
}
