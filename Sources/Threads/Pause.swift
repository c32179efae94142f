import Synchronization
import WireValues

extension Task where Success == Never, Failure == Never {
  /// Suspends the task for a duration, which includes the time the machine is suspended. It replaces `Task.sleep`, which
  /// needs libdispatch (``GlobalExecutor``).
  /// - Throws: `CancellationError`, as soon as the task is cancelled.
  package static func pause(for duration: Duration) async throws {
    let pause = Pause()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { pause.begin($0, duration) }
    } onCancel: {
      pause.cancel()
    }
  }
}

/// One suspension. It ends once: by the alarm or by cancellation, whichever comes first.
private final class Pause: Sendable {
  private enum State {
    case new
    case waiting(CheckedContinuation<Void, any Error>, Alarm.TimerToken)
    case over
  }

  private let state = Mutex(State.new)

  func begin(_ continuation: CheckedContinuation<Void, any Error>, _ duration: Duration) {
    let isCancelled = state.withLock { state in
      if case .over = state { return true }
      // With the lock held: the alarm may fire before the token is stored here.
      state = .waiting(continuation, Alarm.shared.add(after: Self.nanoseconds(duration)) { self.end()?.resume() })
      return false
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  func cancel() { end()?.resume(throwing: CancellationError()) }

  private func end() -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      defer { state = .over }
      guard case .waiting(let continuation, let token) = state else { return nil }
      Alarm.shared.remove(token)
      return continuation
    }
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let whole = CheckedNumber(seconds) * 1_000_000_000 + attoseconds / 1_000_000_000
    return whole.value.map { UInt64($0) } ?? .max
  }
}
