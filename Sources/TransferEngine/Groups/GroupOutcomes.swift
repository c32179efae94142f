import Synchronization

/// The requests of a group that have not ended, and the outcomes of those that have, until the caller takes them.
final class GroupOutcomes<Outcome: Sendable>: Sendable {
  private struct State {
    /// Requests without an outcome.
    var unended = 0
    /// No requests will be added.
    var isFinished = false
    var outcomes: [Outcome] = []
    var waiter: CheckedContinuation<[Outcome]?, Never>?
    /// Continuations of `ended()`.
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// Requests were added.
  /// - Parameter activate: called while the lock is held, if the group has requests now.
  func expect(_ count: Int, activate: () -> Void) {
    state.withLock { state in
      precondition(!state.isFinished, "a request was added to a group after finish()")
      state.unended += count
      if state.unended > 0 { activate() }
    }
  }

  /// Requests have ended.
  /// - Parameter deactivate: called while the lock is held, if no request is left.
  func deliver(_ outcomes: [Outcome], deactivate: () -> Void) {
    guard !outcomes.isEmpty else { return }
    let (waiter, idle) = state.withLock { state in
      state.unended -= outcomes.count
      if state.waiter == nil { state.outcomes.append(contentsOf: outcomes) }
      var idle: [CheckedContinuation<Void, Never>] = []
      if state.unended == 0 {
        deactivate()
        swap(&idle, &state.idleWaiters)
      }
      defer { state.waiter = nil }
      return (state.waiter, idle)
    }
    waiter?.resume(returning: outcomes)
    for continuation in idle { continuation.resume() }
  }

  func finish() {
    let waiter = state.withLock { state -> CheckedContinuation<[Outcome]?, Never>? in
      state.isFinished = true
      guard state.unended == 0, state.outcomes.isEmpty else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  /// The outcomes since the last call, at least one. `nil` after `finish()` and the last outcome, and if the task is
  /// cancelled. For one task at a time.
  func next() async -> [Outcome]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcomes = state.withLock { state -> [Outcome]?? in
          if !state.outcomes.isEmpty {
            defer { state.outcomes = [] }
            return .some(state.outcomes)
          }
          if Task.isCancelled || state.isFinished && state.unended == 0 { return .some(nil) }
          precondition(state.waiter == nil, "two tasks iterate one group of requests")
          state.waiter = continuation
          return nil
        }
        if let outcomes { continuation.resume(returning: outcomes) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: nil)
    }
  }

  /// Returns when no request is left.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.unended > 0 { state.idleWaiters.append(continuation) }
        return state.unended == 0
      }
      if isIdle { continuation.resume() }
    }
  }
}
