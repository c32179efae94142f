import Synchronization
import TransferAPI

/// Wakes those who watch the history. What happened is read from the store, from wherever each of them is: a slow watcher
/// costs no memory and misses nothing.
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

  /// One element whenever something new is there; elements that nobody took become one.
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
