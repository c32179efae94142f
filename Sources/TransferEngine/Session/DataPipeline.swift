import FoundationEssentials
import HTTPTypes

/// One request whose answer is kept in memory, from its first attempt to its last, as straight-line code:
/// describe → adapt → transfer, hop by hop → validate → (retry).
struct DataPipeline: Sendable {
  let session: Session
  let core: RequestCore<DataOutcome>
  let source: RequestSource
  let interceptor: (any RequestInterceptor)?
  /// What an upload sends; `nil` for other requests.
  var upload: UploadSource?

  func run() async -> DataOutcome {
    var outcome = DataOutcome()
    let began = ContinuousClock.now
    while true {
      outcome.error = nil
      await attempt(&outcome)
      validate(&outcome)
      guard let error = outcome.error, upload?.isReplayable ?? true else { break }
      let failure = FailedAttempt(
        request: outcome.request ?? (try? source.request()), response: outcome.head, error: error,
        retryCount: core.retryCount, elapsed: began.duration(to: .now))
      guard let last = await session.wait(toRetry: failure, id: core.id, interceptor) else {
        core.willRetry()
        continue
      }
      outcome.error = last
      break
    }
    upload?.close()
    session.notify(core.id, outcome.error.map { .fail($0) } ?? .finish)
    return outcome
  }

  private func validate(_ outcome: inout DataOutcome) {
    guard outcome.error == nil, let request = outcome.request, let head = outcome.head else { return }
    for validation in core.validations {
      guard case .failure(let error) = validation(request, head, outcome.data) else { continue }
      outcome.error = .of(.validation, error)
      return
    }
  }

  private func attempt(_ outcome: inout DataOutcome) async {
    outcome.head = nil
    outcome.data = nil
    do throws(TransferError) {
      var request = try source.request()
      try await upload?.fill(&request)
      request = try await session.adapted(core.authenticated(request), interceptor)
      var hops = 0
      while let next = try await hop(request, hops, &outcome) {
        request = next
        hops += 1
      }
    } catch {
      outcome.error = error
    }
  }

  /// One transfer. The request that follows a redirect; `nil` at the end.
  private func hop(
    _ request: TransferRequest, _ hops: Int, _ outcome: inout DataOutcome
  ) async throws(TransferError) -> TransferRequest? {
    await core.waitWhileSuspended()
    let core = core
    let receiver = DataReceiver(limit: session.configuration.maximumBodyBytes) { core.report($0, $1) }
    outcome.request = request
    // "": every coding that libcurl can undo.
    let result = try await session.perform(request, acceptEncoding: "", for: core, receiver: receiver)
    let (head, failure) = try take(result, &outcome)
    if let head { session.notify(core.id, .receiveHead(head)) }
    if let failure, !isAnswer(head, receiver) {
      outcome.head = head
      outcome.data = receiver.data.isEmpty ? nil : receiver.data
      // A success that was told before the connection broke is no less early for it.
      try checkSent(head, receiver)
      throw upload?.explained(failure) ?? failure
    }
    if let head, head.isRedirect, head.headers[.location] != nil,
      let next = try await session.redirected(
        request, head, hops: hops, id: core.id, handler: core.redirectHandler, keepsBody: upload != nil)
    {
      if next.body != nil { try upload?.checkReplayable() }
      return next
    }
    outcome.head = head
    outcome.data = receiver.data.isEmpty ? nil : receiver.data
    try checkSent(head, receiver)
    return nil
  }

  private func take(
    _ result: TransferOutcome, _ outcome: inout DataOutcome
  ) throws(TransferError) -> (ResponseHead?, TransferError?) {
    switch result {
    case .cancelled: throw .cancelled
    case .failed(let error, let head, let metrics):
      outcome.metrics.append(metrics)
      session.notify(core.id, .gatherMetrics(metrics))
      return (head, error)
    case .finished(let head, let metrics):
      outcome.metrics.append(metrics)
      session.notify(core.id, .gatherMetrics(metrics))
      return (head, nil)
    }
  }

  // MARK: Bodies

  /// Whether what arrived counts though the transfer broke: a server that refuses a body may close the connection while
  /// the rest of it is on its way (RFC 9112 §9.6).
  private func isAnswer(_ head: ResponseHead?, _ receiver: DataReceiver) -> Bool {
    guard let head, head.status >= 300 else { return false }
    return receiver.isBodyLeft
  }

  /// A success that came before the body was sent is none.
  private func checkSent(_ head: ResponseHead?, _ receiver: DataReceiver) throws(TransferError) {
    guard let head, (200..<300).contains(head.status), receiver.isBodyLeft else { return }
    throw .body(
      .answeredEarly(status: head.status, sent: receiver.sent?.completed ?? 0, total: receiver.sent?.total))
  }
}
