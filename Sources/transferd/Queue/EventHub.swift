import Synchronization
import TransferAPI

/// Wakes the watchers of the event history. Each watcher reads the new events from its own position: from those that the hub
/// keeps, or from the store. So a slow watcher needs no buffer and misses no event.
final class EventHub: Sendable {
  private struct State {
    var nextToken = 0
    var wakes: [Int: @Sendable () -> Void] = [:]
    /// The number of watchers that were added with `addReader`.
    var readers = 0
  }

  private let state = Mutex(State())
  /// The newest events, while there are readers.
  let recent = RecentEvents()

  /// Up to this many readers get events without a longer delay.
  static let maximumUndelayedReaders = 16

  /// Called by the store after each commit.
  func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    let wakes = state.withLock { state in
      // With the lock held, because the kept events must have no gap.
      if state.readers > 0 { recent.append(events) }
      return Array(state.wakes.values)
    }
    for wake in wakes { wake() }
  }

  /// A stream with an element at once and after each new event. Unread elements are merged into one.
  func watch() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let token = insert(isReader: false) { continuation.yield() }
    continuation.onTermination = { [weak self] _ in self?.remove(token, isReader: false) }
    continuation.yield()
    return stream
  }

  /// Calls the closure after each commit with events, until `removeReader`. It must return quickly.
  /// - Returns: a token for `removeReader`.
  func addReader(_ wake: @escaping @Sendable () -> Void) -> Int { insert(isReader: true, wake) }

  func removeReader(_ token: Int) { remove(token, isReader: true) }

  /// How long a reader gathers events before it sends them. The delay grows with the number of readers, so that many cost about
  /// as much as a few.
  /// - Parameter time: the delay for a few readers.
  func gatheringTime(_ time: Duration) -> Duration {
    let readers = state.withLock(\.readers)
    return time * max(1, Double(readers) / Double(Self.maximumUndelayedReaders))
  }

  private func insert(isReader: Bool, _ wake: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextToken += 1
      state.wakes[state.nextToken] = wake
      if isReader { state.readers += 1 }
      return state.nextToken
    }
  }

  private func remove(_ token: Int, isReader: Bool) {
    state.withLock { state in
      guard state.wakes.removeValue(forKey: token) != nil, isReader else { return }
      state.readers -= 1
      if state.readers == 0 { recent.removeAll() }
    }
  }
}
