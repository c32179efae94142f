import FoundationEssentials
import Synchronization

/// The handlers of a stream, and the task that reads the stream for them.
final class StreamHandlers: Sendable {
  enum Piece: Sendable {
    case data(Data)
    case end(StreamCompletion)
  }

  typealias Handler = @Sendable (Piece) async -> Void

  private struct State {
    var handlers: [Handler] = []
    var isReading = false
  }

  private let state = Mutex(State())

  func add(_ handler: @escaping Handler) { state.withLock { $0.handlers.append(handler) } }

  /// Starts to read, once, if there are handlers.
  func start(_ core: RequestCore<StreamOutcome>, _ channel: StreamChannel) {
    let mustRead = state.withLock { state in
      guard !state.isReading, !state.handlers.isEmpty else { return false }
      state.isReading = true
      return true
    }
    guard mustRead else { return }
    let isFirst = channel.claim()
    // The handlers run after the request's own task has ended: their closures may refer to the handle unowned.
    let handle = core.handle
    Task {
      while isFirst, case .success(let data?) = await channel.next() { await self.send(.data(data)) }
      var completion = await core.value().completion
      if !isFirst { completion.error = .body(.alreadyRead) }
      completion.error = completion.error ?? core.cancellationCause
      await self.send(.end(completion))
      withExtendedLifetime(handle) {}
    }
  }

  private func send(_ piece: Piece) async {
    for handler in state.withLock({ $0.handlers }) { await handler(piece) }
  }
}
