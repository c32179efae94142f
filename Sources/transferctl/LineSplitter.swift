import FoundationEssentials
import Glibc

/// Splits a stream of bytes into lines that end with LF. Bytes after the last LF are kept for the next chunk.
struct LineSplitter {
  private var pending = Data()

  mutating func push(_ chunk: Data) -> [Data] {
    var lines: [Data] = []
    chunk.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let start = rest.baseAddress, let end = memchr(start, 10, rest.count) {
        let count = UnsafeRawPointer(end) - start  // checked: pointers into one buffer
        let line = rest.prefix(count)
        if pending.isEmpty {
          lines.append(Data(line))
        } else {
          pending.append(contentsOf: line)
          lines.append(pending)
          pending = Data()
        }
        rest = rest.dropFirst(count + 1)  // checked: a position in the chunk
      }
      pending.append(contentsOf: rest)
    }
    return lines
  }

  /// The last line if the stream did not end with LF.
  mutating func finish() -> Data? {
    defer { pending = Data() }
    return pending.isEmpty ? nil : pending
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var baseAddress: UnsafeRawPointer? { UnsafeRawBufferPointer(rebasing: self).baseAddress }
}
