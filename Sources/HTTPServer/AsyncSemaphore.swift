import Synchronization

/// Lets a limited number of tasks do something at the same time. The users whose tasks wait take turns, so one of them
/// cannot keep the others waiting with many requests; the tasks of one user get in in the order in which they asked.
public final class AsyncSemaphore: Sendable {
  private struct State {
    var free: Int
    /// The tasks that wait, by user. No list is empty.
    var waiting: [UInt32: [CheckedContinuation<Void, Never>]] = [:]
    /// The users of `waiting`, in the order of their turns.
    var turns: [UInt32] = []

    mutating func append(_ task: CheckedContinuation<Void, Never>, of user: UInt32) {
      if waiting[user] == nil { turns.append(user) }
      waiting[user, default: []].append(task)
    }

    /// The task whose turn it is; the next one of its user goes behind those of the others. `nil`: none waits.
    mutating func takeNext() -> CheckedContinuation<Void, Never>? {
      guard !turns.isEmpty else { return nil }
      let user = turns.removeFirst()
      guard var tasks = waiting.removeValue(forKey: user), !tasks.isEmpty else { return nil }
      let task = tasks.removeFirst()
      if !tasks.isEmpty {
        waiting[user] = tasks
        turns.append(user)
      }
      return task
    }
  }

  private let state: Mutex<State>

  /// - Parameter places: how many tasks may be inside at once.
  public init(places: Int) { state = Mutex(State(free: places)) }

  /// The number of tasks that wait for a place.
  public var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Suspends until there is a free place and takes it. ``leave()`` gives it back.
  /// - Parameter user: the uid of the user for whom the task works.
  public func enter(for user: UInt32) async {
    await withCheckedContinuation { continuation in
      let isIn = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.append(continuation, of: user)
        return false
      }
      if isIn { continuation.resume() }
    }
  }

  /// Gives the place to the task whose turn it is, if any waits.
  public func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      let next = state.takeNext()
      if next == nil { state.free += 1 }
      return next
    }
    next?.resume()
  }
}
