import NIOCore
import Synchronization

/// Passes the pieces of a request's body from the event loop to the task that reads the body.
///
/// The event loop reads from the connection only after the task has taken everything that arrived. So a connection
/// holds at most one piece, or the bytes that the kernel still held when the client closed its half.
final class BodySource: Sendable {
  private struct State {
    var pieces = CircularBuffer<ByteBuffer>()
    var ending: Ending?
    var waiter: CheckedContinuation<ByteBuffer?, any Error>?
    var isCancelled = false
  }

  private enum Ending {
    case complete
    case failed(any Error)
  }

  private let state = Mutex(State())
  /// Makes the event loop read more from the connection.
  private let demand: @Sendable () -> Void

  /// - Parameter demand: called from any thread, when the task needs a piece and none has arrived.
  init(demand: @escaping @Sendable () -> Void) { self.demand = demand }

  /// A body without bytes.
  static let empty: BodySource = {
    let source = BodySource {}
    source.finish()
    return source
  }()

  /// On the event loop.
  func append(_ piece: ByteBuffer) {
    let waiter = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
      guard state.ending == nil else { return nil }
      guard let waiter = state.waiter else {
        state.pieces.append(piece)
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume(returning: piece)
  }

  /// The body is complete.
  func finish() { end(.complete) }

  /// No further piece will arrive.
  func fail(_ error: any Error) { end(.failed(error)) }

  private func end(_ ending: Ending) {
    let waiter = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
      guard state.ending == nil else { return nil }
      state.ending = ending
      defer { state.waiter = nil }
      return state.waiter
    }
    switch ending {
    case .complete: waiter?.resume(returning: nil)
    case .failed(let error): waiter?.resume(throwing: error)
    }
  }

  private enum Step {
    case piece(ByteBuffer)
    case ended(Ending)
    case wait
    case cancelled
  }

  /// The next piece; `nil` at the end. For one task at a time.
  func next() async throws -> ByteBuffer? {
    switch state.withLock({ Self.step(&$0) }) {
    case .piece(let piece): return piece
    case .ended(.complete): return nil
    case .ended(.failed(let error)): throw error
    case .cancelled: throw CancellationError()
    case .wait: demand()
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let step = state.withLock { state in
          let step = Self.step(&state)
          if case .wait = step { state.waiter = continuation }
          return step
        }
        switch step {
        case .piece(let piece): continuation.resume(returning: piece)
        case .ended(.complete): continuation.resume(returning: nil)
        case .ended(.failed(let error)): continuation.resume(throwing: error)
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .wait: break
        }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.isCancelled = true
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
  }

  private static func step(_ state: inout State) -> Step {
    if let piece = state.pieces.popFirst() { return .piece(piece) }
    if let ending = state.ending { return .ended(ending) }
    return state.isCancelled ? .cancelled : .wait
  }
}
