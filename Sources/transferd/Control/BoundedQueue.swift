import NIOCore
import Synchronization

/// A queue from one task, which appends elements, to another task, which takes them. The first task may run ahead up to
/// a limit, so that the second one can take several small elements together.
final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements = CircularBuffer<Element>()
    var weight = 0
    var limit: Int
    var isFinished = false
    var isAbandoned = false
    /// At most one of the two tasks waits: one for room, the other for an element.
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let state: Mutex<State>
  private let weight: @Sendable (Element) -> Int
  private let extend: @Sendable () -> Int

  /// - Parameters:
  ///   - limit: the weight in the queue beyond which `append` waits.
  ///   - extend: called when the limit is reached; returns by how much the limit grows, or 0 if it does not grow.
  init(
    limit: Int, weight: @escaping @Sendable (Element) -> Int, extend: @escaping @Sendable () -> Int = { 0 }
  ) {
    state = Mutex(State(limit: limit))
    self.weight = weight
    self.extend = extend
  }

  /// Returns when there is room for more.
  /// - Throws: `CancellationError` if the queue was abandoned.
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
        return state.weight > state.limit
      }
      guard isFull else { return }
      let more = extend()
      if more > 0 {
        state.withLock { $0.limit += more }
      } else {
        await wait { $0.weight > $0.limit && !$0.isAbandoned }
      }
    }
  }

  /// Waits for at least one element, and returns the elements in the queue, in order. Returns an empty array if all
  /// elements were taken and none will follow, or if the queue was abandoned.
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

  /// No more elements will be appended.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      return state.takeWaiter()
    }?.resume()
  }

  /// No more elements will be taken: what is in the queue is dropped, and `append` throws.
  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      state.elements.removeAll()
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
