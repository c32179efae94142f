import NIOCore
import Synchronization

/// What one task hands to another: up to a limit the first goes on while the second is busy, so that small pieces become
/// groups, and so that a client which sends all of its request before it reads an answer, as many do, is not waited for.
/// One end appends, the other takes.
final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements = CircularBuffer<Element>()
    var weight = 0
    var isFinished = false
    var isAbandoned = false
    /// At most one of the two waits: one for room, the other for an element.
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let state = Mutex(State())
  private let limit: Int
  private let weight: @Sendable (Element) -> Int

  /// - Parameter limit: the weight of what waits, beyond which whoever appends waits, too.
  init(limit: Int, weight: @escaping @Sendable (Element) -> Int) {
    self.limit = limit
    self.weight = weight
  }

  /// Returns when there is room for more.
  /// - Throws: `CancellationError` where nobody takes any more.
  func append(_ elements: some Collection<Element> & Sendable) async throws {
    let weight = elements.reduce(0) { $0 + self.weight($1) }
    let waiter = state.withLock { state in
      state.weight += weight
      state.elements.append(contentsOf: elements)
      return state.takeWaiter()
    }
    waiter?.resume()
    while true {
      let isFull = try state.withLock { state in
        guard !state.isAbandoned else { throw CancellationError() }
        return state.weight > limit
      }
      guard isFull else { return }
      await wait { $0.weight > self.limit && !$0.isAbandoned }
    }
  }

  /// What is there, in its order, when there is something; empty when all has been taken and no more comes, or where it was
  /// abandoned.
  func next(upTo count: Int) async -> [Element] {
    while true {
      let (taken, waiter, isFinished) = state.withLock { state in
        guard !state.isAbandoned else { return ([Element](), CheckedContinuation<Void, Never>?.none, true) }
        let taken = Array(state.elements.prefix(count))
        guard !taken.isEmpty else { return (taken, CheckedContinuation<Void, Never>?.none, state.isFinished) }
        state.elements.removeFirst(taken.count)
        state.weight -= taken.reduce(0) { $0 + weight($1) }
        return (taken, state.takeWaiter(), false)
      }
      waiter?.resume()
      if !taken.isEmpty || isFinished { return taken }
      await wait { $0.elements.isEmpty && !$0.isFinished && !$0.isAbandoned }
    }
  }

  /// No more comes.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      return state.takeWaiter()
    }?.resume()
  }

  /// Nobody wants any more of it, whatever waits.
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
