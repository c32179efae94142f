import HTTPServer
import Synchronization
import Threads

/// Wakes a watcher of events. Wakes that arrive while it is busy are merged.
final class WatcherWakes: Sendable {
  /// Why the watcher was woken.
  struct Reasons: OptionSet {
    let rawValue: Int
    /// There may be new events.
    static let news = Reasons(rawValue: 1)
    /// The interval has passed.
    static let tick = Reasons(rawValue: 2)
    /// The client has closed its half of the connection.
    static let disconnect = Reasons(rawValue: 4)
  }

  /// Yields one element at once and one after each wake.
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let pending = Mutex(Reasons.news)
  private let hub: EventHub
  private let registration = Mutex<(token: Int, ticker: Task<Void, Never>)?>(nil)

  /// - Parameter interval: between two ticks.
  init(_ hub: EventHub, _ request: Request, every interval: Duration) {
    self.hub = hub
    (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let token = hub.addReader { [weak self] in self?.wake(.news) }
    let ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.pause(for: interval)
        self?.wake(.tick)
      }
    }
    registration.withLock { $0 = (token, ticker) }
    request.onDisconnect { [weak self] in self?.wake(.disconnect) }
    continuation.yield()
  }

  /// The reasons since the last call.
  func take() -> Reasons {
    pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
  }

  /// Ends the wakes.
  func stop() {
    let registered = registration.withLock { registration in
      defer { registration = nil }
      return registration
    }
    guard let registered else { return }
    hub.removeReader(registered.token)
    registered.ticker.cancel()
    continuation.finish()
  }

  private func wake(_ reason: Reasons) {
    let isFirst = pending.withLock { pending in
      defer { pending.insert(reason) }
      return pending.isEmpty
    }
    if isFirst { continuation.yield() }
  }
}
