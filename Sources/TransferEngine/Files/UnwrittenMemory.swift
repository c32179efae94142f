import Glibc
import WireValues

/// Bytes in memory that wait to be written to a disk: `Dirty` and `Writeback` of `/proc/meminfo` (proc_meminfo(5)).
enum UnwrittenMemory {
  /// The current number of bytes; `nil` if it cannot be read.
  static var bytes: Int64? {
    let descriptor = open("/proc/meminfo", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      guard count > 0 else { return nil }
      return bytes(in: String(decoding: buffer[..<count], as: UTF8.self))
    }
  }

  /// The sum of both lines; `nil` unless both are there.
  static func bytes(in text: String) -> Int64? {
    guard let dirty = kibibytes("Dirty:", in: text), let writeback = kibibytes("Writeback:", in: text) else {
      return nil
    }
    return (CheckedNumber(dirty.saturatingSum(writeback)) * 1024).value
  }

  /// The number in a line like `Dirty:    1234 kB`.
  private static func kibibytes(_ name: String, in text: String) -> Int64? {
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count >= 2, words[0].elementsEqual(name.utf8) else { continue }
      return CheckedNumber(digits: Substring(words[1])).value
    }
    return nil
  }
}
