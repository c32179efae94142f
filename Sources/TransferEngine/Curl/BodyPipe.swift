import FoundationEssentials
import Synchronization
import WireValues

/// The buffer between an asynchronous sequence and the transfer loop that sends its pieces. At most `highWater` bytes
/// and one piece wait in it. Opaque to its users.
public final class BodyPipe: Sendable {
  static let highWater = 1 << 20

  fileprivate struct State {
    var pieces: [Data] = []
    /// Bytes of the first piece that have been taken.
    var offset = 0
    var waiting = 0
    var taken: Int64 = 0
    var isEnded = false
    var isClosed = false
    var failure: TransferError?
    /// The loop found no bytes and waits.
    var isStarved = false
    var writer: CheckedContinuation<Void, Never>?
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  init() {}

  /// Bytes that libcurl has taken.
  var taken: Int64 { state.withLock { $0.taken } }

  /// Whether the transfer waits for bytes.
  var isStarved: Bool { state.withLock { $0.isStarved } }

  // MARK: Filling

  /// Returns when there is room for more; `false` if no more is wanted.
  func write(_ piece: Data) async -> Bool {
    guard !piece.isEmpty else { return !state.withLock { $0.isClosed } }
    let wake = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.isClosed else { return nil }
      state.pieces.append(piece)
      state.waiting += piece.count
      return state.takeWake()
    }
    wake?()
    await withCheckedContinuation { continuation in
      let isFull = state.withLock { state in
        guard state.waiting >= Self.highWater, !state.isClosed else { return false }
        state.writer = continuation
        return true
      }
      if !isFull { continuation.resume() }
    }
    return !state.withLock { $0.isClosed }
  }

  func end(_ failure: TransferError? = nil) {
    let wake = state.withLock { state in
      state.isEnded = true
      state.failure = failure
      return state.takeWake()
    }
    wake?()
  }

  // MARK: Sending

  /// The number of bytes read; 0 at the end, `nil` if there are none yet.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int? {
    let (result, writer) = state.withLock { state -> (Result<Int?, TransferError>, CheckedContinuation<Void, Never>?) in
      if let failure = state.failure { return (.failure(failure), nil) }
      let count = state.take(buffer)
      guard count > 0 else {
        state.isStarved = !state.isEnded
        return (.success(state.isEnded ? 0 : nil), nil)
      }
      guard state.waiting < Self.highWater else { return (.success(count), nil) }
      defer { state.writer = nil }
      return (.success(count), state.writer)
    }
    writer?.resume()
    return try result.get()
  }

  /// - Parameter wake: called once, when bytes arrive after `read` found none.
  func attach(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  /// Makes the transfer read again, even if there are no bytes.
  func wakeUp() { state.withLock { $0.takeWake() }?() }

  func detach() { state.withLock { $0.wake = nil } }

  /// No more bytes will be taken.
  func close() {
    let writer = state.withLock { state in
      state.isClosed = true
      state.pieces = []
      defer { state.writer = nil }
      return state.writer
    }
    writer?.resume()
  }
}

extension BodyPipe.State {
  fileprivate mutating func takeWake() -> (@Sendable () -> Void)? {
    guard isStarved else { return nil }
    isStarved = false
    return wake
  }

  fileprivate mutating func take(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    var filled = 0
    while filled < buffer.count, let piece = pieces.first {
      let count = min(buffer.count - filled, piece.count - offset)  // checked: offset lies within the piece
      piece.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(
          from: .init(rebasing: bytes[offset..<offset + count]))  // checked: count is at most the rest of the piece
      }
      filled += count
      offset += count  // checked: at most the piece's length
      if offset == piece.count {
        pieces.removeFirst()
        offset = 0
      }
    }
    waiting -= filled
    taken = taken.saturatingSum(Int64(filled))
    return filled
  }
}
