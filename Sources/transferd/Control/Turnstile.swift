import Synchronization

/// Lets a few in at a time, in the order they came. Long answers are put together behind one, so that hundreds who ask for
/// them keep Swift's few threads from nobody who asks for a short one.
final class Turnstile: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  /// For lists of jobs and events.
  static let longAnswers = Turnstile(places: 4)

  init(places: Int) { state = Mutex(State(free: places)) }

  /// How many wait for a place.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Returns when a place is the caller's. `leave` gives it back.
  func enter() async {
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

  func leave() {
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
