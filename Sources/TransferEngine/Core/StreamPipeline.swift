import FoundationEssentials
import HTTPTypes

/// Runs one request whose response is read piece by piece: describe → adapt → transfer, redirect by redirect → (retry,
/// until a reader has received something of the response).
struct StreamPipeline: AttemptPipeline, Sendable {
  let session: Session
  let core: RequestCore<StreamOutcome>
  let source: RequestSource
  let interceptor: (any RequestInterceptor)?
  let channel: StreamChannel
  let handlers: StreamHandlers

  func run() async -> StreamOutcome {
    var (pipeline, outcome) = (self, StreamOutcome())
    handlers.start(core, channel)
    outcome.error = await pipeline.run(&outcome)
    outcome.metrics = core.record.metrics
    channel.end(outcome.error)
    session.notify(core.id, outcome.error.map { .fail($0) } ?? .finish)
    return outcome
  }

  func decide(after error: TransferError, _ outcome: inout StreamOutcome) -> AttemptDecision {
    guard channel.hold() else { return .end(error) }
    return .askRetriers(request: outcome.request, response: outcome.head, error: error)
  }

  func attempt(_ outcome: inout StreamOutcome) async throws(TransferError) {
    outcome.head = nil
    channel.restart()
    var request = core.authenticated(try source.request())
    outcome.request = request
    request = try await session.adapted(request, interceptor, core.record)
    var hops = 0
    while let next = try await hop(request, hops, &outcome) {
      request = next
      hops += 1
    }
  }

  /// Runs one transfer.
  /// - Returns: the request that follows a redirect; `nil` at the end.
  private func hop(
    _ request: TransferRequest, _ hops: Int, _ outcome: inout StreamOutcome
  ) async throws(TransferError) -> TransferRequest? {
    await core.waitWhileSuspended()
    let (core, channel) = (core, channel)
    outcome.request = request
    let isCancelled: @Sendable () -> Bool = { core.requestState == .cancelled }
    let receiver = StreamReceiver(channel, check: check(request), isCancelled: isCancelled) { core.report($0) }
    let result = try await session.perform(request, acceptEncoding: nil, for: core, receiver: receiver) { id, loop in
      channel.attach { Task { await loop.unpause(id) } }
    }
    switch result {
    case .cancelled: throw .cancelled
    case .failed(let error, let head, _):
      outcome.head = head
      throw receiver.refusal ?? error
    case .finished(let head, _):
      outcome.head = head
      if let refusal = receiver.refusal { throw refusal }
      guard !isCancelled() else { throw .cancelled }
      guard let head, head.isRedirect, head.headers[.location] != nil else { return nil }
      if let next = try await session.redirected(
        request, head, hops: hops, id: core.id, handler: core.redirectHandler)
      {
        return next
      }
      channel.take(head)
      return nil
    }
  }

  private func check(_ request: TransferRequest) -> @Sendable (ResponseHead) -> TransferError? {
    let (validations, record) = (core.validations, core.record)
    guard !validations.isEmpty else { return { _ in nil } }
    return { head in
      var refusal: TransferError?
      for validation in validations {
        guard case .failure(let error) = validation(request, head) else { continue }
        refusal = .of(.validation, error)
        break
      }
      record.notify(.validate(refusal))
      return refusal
    }
  }
}
