import HTTPTypes

/// One PUT or POST of all bytes, or of a form that carries them. Nothing to go on from: each attempt sends all.
struct PlainUpload: UploadWay {
  let form: FormOptions?

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    var request = attempt.request
    request.method = method(request)
    let body = try makeBody(attempt, &request)
    // RFC 9110 §9.2.2: a PUT may be made again, a POST not by guess.
    if request.method == .put {
      if attempt.upload.onlyIfAbsent { request.headers[.ifNoneMatch] = "*" }
      let answer = try await attempt.wire.send(request, body)
      _ = try answer.success()
      guard answer.isBodySent else { throw .upload(.answeredEarly(sent: answer.sent, total: answer.size)) }
      attempt.board.acknowledge(attempt.source.size)
      if attempt.upload.verifiesLength { try await attempt.compareLength(at: request) }
    } else {
      try await post(request, body, attempt)
    }
  }

  private func makeBody(
    _ attempt: UploadAttempt, _ request: inout TransferRequest
  ) throws(TransferError) -> UploadBody {
    guard let form else { return attempt.flight(attempt.source.range).body }
    return try form.body(of: attempt, &request)
  }

  private func method(_ request: TransferRequest) -> HTTPRequest.Method {
    if form != nil { return request.method == .put ? .put : .post }
    return request.method == .post ? .post : .put
  }

  /// Notes first that a POST is on its way: whoever finds that note after a crash does not know how it ended.
  private func post(
    _ request: TransferRequest, _ body: UploadBody, _ attempt: UploadAttempt
  ) async throws(TransferError) {
    if case .posting? = attempt.ledger.progress { throw .upload(.outcomeUnknown) }
    try await attempt.ledger.record(.posting, for: attempt)
    let answer: UploadAnswer
    do throws(TransferError) {
      answer = try await attempt.wire.send(request, body, .init(isOnce: true))
    } catch {
      if body.meter.taken < body.size || !error.isCancellation { attempt.ledger.clear() }
      throw error
    }
    // Without an answer after the last byte nobody knows; with one, or with bytes missing, it is known.
    if answer.isOutcomeUnknown { throw .upload(.outcomeUnknown) }
    attempt.ledger.clear()
    _ = try answer.success()
    guard answer.isBodySent else { throw .upload(.answeredEarly(sent: answer.sent, total: answer.size)) }
    attempt.board.acknowledge(attempt.source.size)
  }

  /// A POST that may have been carried out cannot be taken back; a PUT left nothing that could be gone on from.
  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadWire
  ) async throws(TransferError) {}
}
