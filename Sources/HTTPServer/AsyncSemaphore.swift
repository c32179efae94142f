import Synchronization

/// Lets a limited number of tasks do something at the same time, in the order in which they asked.
public final class AsyncSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  /// - Parameter places: how many tasks may be inside at once.
  public init(places: Int) { state = Mutex(State(free: places)) }

  /// The number of tasks that wait for a place.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Suspends until there is a free place and takes it. ``leave()`` gives it back.
  public func enter() async {
    await withCheckedContinuation { continuation in
      let isIn = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isIn { continuation.resume() }
    }
  }

  /// Gives the place to the task that has waited longest, if any.
  public func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
