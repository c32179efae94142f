import Synchronization

/// Events as asynchronous sequences, one for each call of `events()`.
public final class EventStreamMonitor: EventMonitor {
  /// The identity of a request and its event.
  public typealias Element = (id: RequestID, event: RequestEvent)

  private struct State {
    var next = 0
    var watchers: [Int: AsyncStream<Element>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// A monitor whose events are read as sequences.
  public init() {}

  deinit { for watcher in state.withLock({ $0.watchers }).values { watcher.finish() } }

  /// The events from now on, until the monitor is released.
  /// - Parameter bufferingPolicy: which events wait for a slow reader; by default the newest 1024.
  public func events(
    bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy = .bufferingNewest(1024)
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: bufferingPolicy)
    let number = state.withLock { state in
      state.next += 1  // checked: a counter of this process
      state.watchers[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
    }
    return stream
  }

  public func request(_ id: RequestID, did event: RequestEvent) {
    for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield((id, event)) }
  }
}
