import FoundationEssentials
import HTTPTypes

/// One request whose answer is taken piece by piece, as straight-line code: describe → adapt → transfer, hop by hop →
/// (retry, while nobody has seen anything of the answer).
struct StreamPipeline: Sendable {
  let session: Session
  let core: RequestCore<StreamOutcome>
  let source: RequestSource
  let interceptor: (any RequestInterceptor)?
  let channel: StreamChannel
  let handlers: StreamHandlers

  func run() async -> StreamOutcome {
    var outcome = StreamOutcome()
    let began = ContinuousClock.now
    handlers.start(core, channel)
    while true {
      outcome.error = nil
      outcome.head = nil
      do throws(TransferError) {
        try await attempt(&outcome)
        break
      } catch {
        outcome.error = error
        guard channel.hold() else { break }
        let failure = FailedAttempt(
          request: outcome.request ?? (try? source.request()), response: outcome.head, error: error,
          retryCount: core.retryCount, elapsed: began.duration(to: .now))
        outcome.error = await session.wait(toRetry: failure, id: core.id, interceptor)
        guard outcome.error == nil else { break }
        core.willRetry()
        channel.restart()
      }
    }
    channel.end(outcome.error)
    session.notify(core.id, outcome.error.map { .fail($0) } ?? .finish)
    return outcome
  }

  private func attempt(_ outcome: inout StreamOutcome) async throws(TransferError) {
    var request = try await session.adapted(core.authenticated(try source.request()), interceptor)
    var hops = 0
    while let next = try await hop(request, hops, &outcome) {
      request = next
      hops += 1
    }
  }

  /// One transfer. The request that follows a redirect; `nil` at the end.
  private func hop(
    _ request: TransferRequest, _ hops: Int, _ outcome: inout StreamOutcome
  ) async throws(TransferError) -> TransferRequest? {
    await core.waitWhileSuspended()
    let (core, channel) = (core, channel)
    outcome.request = request
    let receiver = StreamReceiver(channel, check: check(request)) { core.report($0) }
    let result = try await session.perform(request, acceptEncoding: nil, for: core, receiver: receiver) { id, loop in
      channel.attach { Task { await loop.unpause(id) } }
    }
    switch result {
    case .cancelled: throw .cancelled
    case .failed(let error, let head, let metrics):
      note(head, metrics, &outcome)
      throw receiver.refusal ?? error
    case .finished(let head, let metrics):
      note(head, metrics, &outcome)
      if let refusal = receiver.refusal { throw refusal }
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

  private func note(_ head: ResponseHead?, _ metrics: TransferMetrics, _ outcome: inout StreamOutcome) {
    outcome.head = head
    outcome.metrics.append(metrics)
    if let head { session.notify(core.id, .receiveHead(head)) }
    session.notify(core.id, .gatherMetrics(metrics))
  }

  private func check(_ request: TransferRequest) -> @Sendable (ResponseHead) -> TransferError? {
    let validations = core.validations
    return { head in
      for validation in validations {
        if case .failure(let error) = validation(request, head) { return .of(.validation, error) }
      }
      return nil
    }
  }
}
