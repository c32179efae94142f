import Glibc
import NIOCore
import TransferAPI

/// Cuts the bytes of a list into pieces that hold whole items, so that the items of a piece can be read in one go.
struct ListCutter {
  enum Piece: Equatable, Sendable {
    /// Whole items, each with its separator; the last item of the list may lack it.
    case items(ByteBuffer)
    /// One item that is longer than the limit. Its bytes are dropped.
    case tooLong

    /// The approximate number of bytes that the piece holds in memory.
    var weight: Int {
      switch self {
      case .items(let bytes): bytes.readableBytes + 256
      case .tooLong: 256
      }
    }
  }

  /// LF for lines, NUL for paths.
  let separator: UInt8
  /// The longest item, in bytes.
  let maximumItemBytes: Int
  private var pending = ByteBuffer()
  /// The rest of an item that is too long is being dropped.
  private var isSkipping = false

  init(separator: UInt8, maximumItemBytes: Int) {
    self.separator = separator
    self.maximumItemBytes = maximumItemBytes
  }

  /// Takes the next bytes of the list.
  mutating func take(_ buffer: ByteBuffer) -> [Piece] {
    var buffer = buffer
    var pieces: [Piece] = []
    if isSkipping {
      guard let end = Self.position(of: separator, in: buffer, last: false) else { return [] }
      buffer.moveReaderIndex(forwardBy: end + 1)  // checked: a position in the buffer
      isSkipping = false
    }
    if let end = Self.position(of: separator, in: buffer, last: true) {
      var whole = buffer.readSlice(length: end + 1) ?? ByteBuffer()  // checked: a position in the buffer
      if pending.readableBytes > 0 {
        pending.writeBuffer(&whole)
        swap(&pending, &whole)
        pending = ByteBuffer()
      }
      pieces.append(.items(whole))
    }
    pending.writeBuffer(&buffer)
    if pending.readableBytes > maximumItemBytes {
      pending = ByteBuffer()
      isSkipping = true
      pieces.append(.tooLong)
    }
    return pieces
  }

  /// The list has ended: returns its last item if that has no separator.
  mutating func finish() -> Piece? {
    defer { pending = ByteBuffer() }
    return pending.readableBytes > 0 ? .items(pending) : nil
  }

  /// Searches the new bytes only, so that a long item takes linear time.
  private static func position(of byte: UInt8, in buffer: ByteBuffer, last: Bool) -> Int? {
    buffer.withUnsafeReadableBytes { bytes -> Int? in
      if last { return bytes.lastIndex(of: byte) }
      guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
      return UnsafeRawPointer(found) - start  // checked: pointers into one buffer
    }
  }
}
