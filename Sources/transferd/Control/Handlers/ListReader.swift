import Glibc
import NIOCore
import TransferAPI
import WireValues

/// Reads the items of a list's pieces and numbers them. Pure.
struct ListReader {
  struct Item<Value: Sendable>: Sendable {
    /// The physical line, from 1; for paths the item.
    var number: Int
    var result: Result<Value, Problem>
  }

  let format: BulkFormat
  /// The longest item, in bytes.
  let maximumItemBytes: Int
  private(set) var number = 0

  init(_ format: BulkFormat, maximumItemBytes: Int) {
    self.format = format
    self.maximumItemBytes = maximumItemBytes
  }

  /// The items of a piece.
  /// - Parameter read: makes a value of an item's bytes, which are neither blank nor a comment.
  mutating func items<Value: Sendable>(
    of piece: ListCutter.Piece, read: (UnsafeRawBufferPointer) -> Result<Value, Problem>
  ) -> [Item<Value>] {
    switch piece {
    case .tooLong:
      number += 1
      return [.init(number: number, result: .failure(tooLong))]
    case .items(let buffer):
      return buffer.withUnsafeReadableBytes { bytes in
        var items: [Item<Value>] = []
        items.reserveCapacity(bytes.count / 64 + 1)
        var rest = bytes[...]
        while !rest.isEmpty {
          let item = Self.next(&rest, separator: format == .paths ? 0 : UInt8(ascii: "\n"))
          number += 1
          guard let plain = plain(item) else { continue }
          if let problem = refusal(of: plain) {
            items.append(.init(number: number, result: .failure(problem)))
          } else {
            items.append(.init(number: number, result: read(plain)))
          }
        }
        return items
      }
    }
  }

  private func refusal(of item: UnsafeRawBufferPointer) -> Problem? {
    if item.count > maximumItemBytes { return tooLong }
    // A URL's host is compared again and again. The names of a path are short.
    guard format == .urls, CombiningMarks.areTooMany(in: item) else { return nil }
    return Problem(.invalid, CombiningMarks.refusal)
  }

  private var tooLong: Problem {
    Problem(.tooLarge, "the \(format == .paths ? "path" : "line") is longer than \(maximumItemBytes) bytes")
  }

  /// Takes the bytes up to the next separator.
  private static func next(_ rest: inout Slice<UnsafeRawBufferPointer>, separator: UInt8) -> UnsafeRawBufferPointer {
    let whole = UnsafeRawBufferPointer(rebasing: rest)
    guard let start = whole.baseAddress, let found = memchr(start, Int32(separator), whole.count) else {
      rest = rest.dropFirst(whole.count)
      return whole
    }
    let count = UnsafeRawPointer(found) - start  // checked: pointers into one buffer
    rest = rest.dropFirst(count + 1)  // checked: a position in the buffer
    return UnsafeRawBufferPointer(rebasing: whole[..<count])
  }

  /// The item without the blanks around a URL; `nil` for an item that names nothing.
  private func plain(_ item: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard format == .urls else { return item.isEmpty ? nil : item }
    var line = item[...]
    // A byte order mark, as editors write it.
    if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    line = line.trimmingLine()
    guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
    return UnsafeRawBufferPointer(rebasing: line)
  }
}
