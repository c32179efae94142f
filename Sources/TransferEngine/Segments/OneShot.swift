import Synchronization

/// An event that happens once and that one task waits for.
final class OneShot: Sendable {
  private struct State {
    var hasHappened = false
    var waiter: CheckedContinuation<Void, Never>?
  }
  private let state = Mutex(State())

  /// Returns when it has happened, or when the task is cancelled. Called once.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasHappened = state.withLock { state in
          if !state.hasHappened { state.waiter = continuation }
          return state.hasHappened
        }
        if hasHappened { continuation.resume() }
      }
    } onCancel: {
      happen()
    }
  }

  /// It has happened. Further calls change nothing.
  func happen() {
    let waiter = state.withLock { state in
      state.hasHappened = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  var hasHappened: Bool { state.withLock { $0.hasHappened } }
}
