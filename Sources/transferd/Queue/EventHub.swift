import Synchronization
import TransferAPI

/// Wakes the watchers of the event history. Each watcher reads the new events from the store, from its own position. So a
/// slow watcher needs no buffer and misses no event.
final class EventHub: Sendable {
  private struct State {
    var nextToken = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Called by the store after each commit.
  func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    let watchers = state.withLock { Array($0.watchers.values) }
    for watcher in watchers { watcher.yield() }
  }

  /// A stream with an element at once and after each new event. Unread elements are merged into one.
  func watch() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let token = state.withLock { state in
      state.nextToken += 1
      state.watchers[state.nextToken] = continuation
      return state.nextToken
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.watchers.removeValue(forKey: token) }
    }
    continuation.yield()
    return stream
  }
}
