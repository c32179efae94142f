import FoundationEssentials
import HTTPTypes

/// Runs one request whose response is kept in memory: describe → adapt → transfer, redirect by redirect → validate →
/// (retry).
struct DataPipeline: AttemptPipeline, Sendable {
  let session: Session
  let core: RequestCore<DataOutcome>
  let source: RequestSource
  let interceptor: (any RequestInterceptor)?
  /// The body of an upload; `nil` for other requests.
  var upload: UploadSource?

  func run() async -> DataOutcome {
    var (pipeline, outcome) = (self, DataOutcome())
    outcome.error = await pipeline.run(&outcome)
    upload?.close()
    outcome.metrics = core.record.metrics
    session.notify(core.id, outcome.error.map { .fail($0) } ?? .finish)
    return outcome
  }

  func decide(after error: TransferError, _ outcome: inout DataOutcome) -> AttemptDecision {
    guard upload?.isReplayable ?? true else { return .end(error) }
    return .askRetriers(request: outcome.request, response: outcome.head, error: error)
  }

  func attempt(_ outcome: inout DataOutcome) async throws(TransferError) {
    outcome.head = nil
    outcome.data = nil
    var request = try source.request()
    try await upload?.fill(&request)
    request = core.authenticated(request)
    outcome.request = request
    request = try await session.adapted(request, interceptor, core.record)
    var hops = 0
    while let next = try await hop(request, hops, &outcome) {
      request = next
      hops += 1
    }
    try validate(outcome)
  }

  private func validate(_ outcome: DataOutcome) throws(TransferError) {
    let validations = core.validations
    guard !validations.isEmpty, let request = outcome.request, let head = outcome.head else { return }
    var failure: TransferError?
    for validation in validations {
      guard case .failure(let error) = validation(request, head, outcome.data) else { continue }
      failure = .of(.validation, error)
      break
    }
    session.notify(core.id, .validate(failure))
    if let failure { throw failure }
  }

  /// Runs one transfer.
  /// - Returns: the request that follows a redirect; `nil` at the end.
  private func hop(
    _ request: TransferRequest, _ hops: Int, _ outcome: inout DataOutcome
  ) async throws(TransferError) -> TransferRequest? {
    await core.waitWhileSuspended()
    let core = core
    let receiver = DataReceiver(limit: session.configuration.maximumBodyBytes) { core.report($0, $1) }
    outcome.request = request
    // "" accepts every coding that the engine can decode.
    let result = try await session.perform(request, acceptEncoding: "", for: core, receiver: receiver)
    let (head, failure) = try Self.headAndFailure(result)
    if let failure, !isRefusal(head, receiver) {
      outcome.head = head
      outcome.data = receiver.data.isEmpty ? nil : receiver.data
      // A success status that the server sent before it read the whole body is an error, even if the connection broke
      // afterwards.
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

  private static func headAndFailure(
    _ result: TransferOutcome
  ) throws(TransferError) -> (ResponseHead?, TransferError?) {
    switch result {
    case .cancelled: throw .cancelled
    case .failed(let error, let head, _): return (head, error)
    case .finished(let head, _): return (head, nil)
    }
  }

  // MARK: Bodies

  /// Whether the response counts although the transfer broke: a server that refuses a body may close the connection while
  /// the rest of the body is being sent (RFC 9112 §9.6).
  private func isRefusal(_ head: ResponseHead?, _ receiver: DataReceiver) -> Bool {
    guard let head, head.status >= 300 else { return false }
    return receiver.isBodyLeft
  }

  /// A success that arrives before the body was sent is an error.
  private func checkSent(_ head: ResponseHead?, _ receiver: DataReceiver) throws(TransferError) {
    guard let head, (200..<300).contains(head.status), receiver.isBodyLeft else { return }
    throw .body(
      .answeredEarly(status: head.status, sent: receiver.sent?.completed ?? 0, total: receiver.sent?.total))
  }
}
