import Synchronization

/// Watches requests. One method, one enum: new events need no new methods.
public protocol EventMonitor: Sendable {
  /// Called in the order things happen to one request, from whatever thread they happen on; must return quickly.
  func request(_ id: RequestID, did event: RequestEvent)
}

/// What happened to a request, in the past tense.
public enum RequestEvent: Sendable {
  /// The request began, or went on after `suspend()`.
  case resume
  /// The request was suspended: its transfer is held, its connection kept.
  case suspend
  /// `cancel()` was called; the end follows as `.fail(.cancelled)`.
  case cancel
  /// An attempt's request, adapted, is about to be sent.
  case send(TransferRequest)
  /// A redirect is followed, with what the redirect handler made of it.
  case redirect(from: RequestURL, to: RequestURL)
  /// The first request of the session to a host whose word is taken unproved (`DisabledTrustEvaluator`).
  case skipServerTrust(host: String)
  /// An answer's head is complete, redirects' included.
  case receiveHead(ResponseHead)
  /// The stored bytes could not be gone on from that way; the next rung is tried.
  case refuseToResume(reason: String)
  /// A transfer ended, with what it cost.
  case gatherMetrics(TransferMetrics)
  /// An attempt failed and another follows after the delay.
  case retry(after: Duration, dueTo: TransferError)
  /// The request has ended with this error. Nothing follows.
  case fail(TransferError)
  /// The request has ended well. Nothing follows.
  case finish
}

/// A closure as a monitor.
public struct ClosureEventMonitor: EventMonitor {
  private let closure: @Sendable (RequestID, RequestEvent) -> Void

  /// - Parameter closure: called in the order things happen to one request; must return quickly.
  public init(_ closure: @escaping @Sendable (RequestID, RequestEvent) -> Void) { self.closure = closure }

  public func request(_ id: RequestID, did event: RequestEvent) { closure(id, event) }
}

/// Events as asynchronous sequences, one for everybody who asks.
public final class EventStreamMonitor: EventMonitor {
  /// A request's name and what happened to it.
  public typealias Element = (id: RequestID, event: RequestEvent)

  private struct State {
    var next = 0
    var watchers: [Int: AsyncStream<Element>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// A monitor whose events are read as a sequence. It keeps them until they are read.
  public init() {}

  deinit { for watcher in state.withLock({ $0.watchers }).values { watcher.finish() } }

  /// What happens from now on, until the monitor is gone.
  /// - Parameter bufferingPolicy: what becomes of events that a slow reader has not taken; by default the newest 1024 wait.
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

/// Names a request in events; unique in the process.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
  /// A number that counts up within one session; it has no meaning elsewhere.
  public let rawValue: UInt64
  public var description: String { "request \(rawValue)" }
}
