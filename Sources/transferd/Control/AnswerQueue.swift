import NIOCore
import Synchronization

/// Answers on their way to a client that may send all of its request before it reads any of them, as many HTTP clients do:
/// up to a limit they wait here, so that the two do not wait for each other. One end appends, the other takes.
final class AnswerQueue: Sendable {
  private struct State {
    var pieces = CircularBuffer<ByteBuffer>()
    var bytes = 0
    var isFinished = false
    var isAbandoned = false
    /// At most one of the two waits: one for room, the other for a piece.
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  /// The answers to some 300,000 lines.
  static let maximumBytes = 8 << 20

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int = maximumBytes) { self.limit = limit }

  /// Returns when there is room for more.
  /// - Throws: `CancellationError` where nobody takes any more.
  func append(_ piece: ByteBuffer) async throws {
    let waiter = state.withLock { state in
      state.bytes += piece.readableBytes
      state.pieces.append(piece)
      return state.takeWaiter()
    }
    waiter?.resume()
    while true {
      let isFull = try state.withLock { state in
        guard !state.isAbandoned else { throw CancellationError() }
        return state.bytes > limit
      }
      guard isFull else { return }
      await wait { $0.bytes > self.limit && !$0.isAbandoned }
    }
  }

  /// `nil` when all has been taken and no more comes.
  func next() async -> ByteBuffer? {
    while true {
      let (piece, waiter, isFinished) = state.withLock { state in
        guard let piece = state.pieces.popFirst() else {
          return (ByteBuffer?.none, CheckedContinuation<Void, Never>?.none, state.isFinished)
        }
        state.bytes -= piece.readableBytes
        return (piece, state.takeWaiter(), false)
      }
      waiter?.resume()
      if let piece { return piece }
      if isFinished { return nil }
      await wait { $0.pieces.isEmpty && !$0.isFinished }
    }
  }

  /// No more comes.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      return state.takeWaiter()
    }?.resume()
  }

  /// Nobody takes any more.
  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      return state.takeWaiter()
    }?.resume()
  }

  private func wait(while condition: @Sendable (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let mustWait = state.withLock { state in
        guard condition(state) else { return false }
        state.waiter = continuation
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }
}
