import CCurl
import FoundationEssentials
import Glibc
import Synchronization
import WireValues

/// What one transfer of an upload sends: pieces of memory and of the source, in order.
struct UploadBody: Sendable {
  enum Piece: Sendable {
    case bytes(Data)
    case file(OpenSource, Range<Int64>)

    var size: Int64 {
      switch self {
      case .bytes(let data): Int64(data.count)
      case .file(_, let range): Int64(range.count)
      }
    }
  }

  let pieces: [Piece]
  /// Bytes in all.
  let size: Int64
  let meter: UploadMeter
  /// Holds the transfer back while it is shut.
  var gate: UploadGate?

  init(_ pieces: [Piece], gate: UploadGate? = nil, moved: @escaping @Sendable (Int64) -> Void = { _ in }) {
    self.pieces = pieces
    self.gate = gate
    size = pieces.reduce(0) { $0.saturatingSum($1.size) }
    meter = UploadMeter(moved)
  }

  init(_ data: Data) { self.init([.bytes(data)]) }
}

/// How much of a body libcurl has taken; outlives the transfer.
final class UploadMeter: Sendable {
  private let position = Atomic<Int64>(0)
  private let moved: @Sendable (Int64) -> Void

  init(_ moved: @escaping @Sendable (Int64) -> Void) { self.moved = moved }

  /// Bytes taken, those before the last rewinding not counted.
  var taken: Int64 { position.load(ordering: .acquiring) }

  fileprivate func move(to position: Int64) {
    self.position.store(position, ordering: .releasing)
    moved(position)
  }
}

/// A door in a body: shut, nothing more than `allowance` bytes is taken.
final class UploadGate: Sendable {
  /// So much may go out before what the server told us is durable.
  static let allowance: Int64 = 1 << 20

  private let state = Mutex((isShut: false, isHolding: false))

  func shut() { state.withLock { $0.isShut = true } }

  /// True where the transfer waits at the door and has to be unpaused.
  func open() -> Bool {
    state.withLock { state in
      defer { state = (false, false) }
      return state.isHolding
    }
  }

  fileprivate func holds(at position: Int64) -> Bool {
    state.withLock { state in
      guard state.isShut, position >= Self.allowance else { return false }
      state.isHolding = true
      return true
    }
  }
}

/// Reads an upload's body for libcurl, and holds the source to what it was: after its last byte was read, and before that
/// byte is sent, the file is compared, so that a changed one never arrives whole.
final class UploadBodyReader: BodyReading {
  private let body: UploadBody
  private(set) var position: Int64 = 0

  init(_ body: UploadBody) { self.body = body }

  var size: Int64 { body.size }

  func close() {}

  func seek(to offset: Int64) -> Bool {
    guard (0...size).contains(offset) else { return false }  // checked: a sum of sizes
    position = offset
    body.meter.move(to: offset)
    return true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    if let gate = body.gate, gate.holds(at: position) { return Int(TRANSFER_READFUNC_PAUSE) }
    var start: Int64 = 0
    for piece in body.pieces {
      let end = start.saturatingSum(piece.size)
      if position < end {
        let count = try take(piece, from: position - start, into: buffer)  // checked: start ≤ position < end
        position += Int64(count)  // checked: at most end
        body.meter.move(to: position)
        return count
      }
      start = end
    }
    return 0
  }

  private func take(
    _ piece: UploadBody.Piece, from offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> Int {
    let wanted = Int(min(Int64(buffer.count), piece.size - offset))  // checked: 0 ≤ offset < size
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    switch piece {
    case .bytes(let data):
      // checked: wanted is at most the rest of the piece
      data.withUnsafeBytes { target.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + wanted])) }
      return wanted
    case .file(let source, let range):
      let count = try source.read(into: target, at: range.lowerBound + offset)  // checked: within the range
      if offset + Int64(count) == piece.size { try source.checkDescriptor() }  // checked: within the piece
      return count
    }
  }
}
