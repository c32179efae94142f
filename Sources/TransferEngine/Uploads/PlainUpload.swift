import HTTPTypes
import WireValues

/// One PUT or POST of all bytes, or of a form that contains them. It cannot be resumed: each attempt sends everything.
struct PlainUpload: UploadStrategy {
  let form: FormOptions?

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    var request = prepared(attempt.request, for: attempt.upload)
    let body = try makeBody(attempt, &request)
    // A PUT may be repeated, a POST may not (RFC 9110 §9.2.2).
    if request.method == .put {
      let response = try await attempt.wire.send(request, body)
      _ = try response.success()
      try response.checkSent()
      attempt.tracker.acknowledge(attempt.source.size)
      if attempt.upload.verifiesLength { try await attempt.compareLength(at: request) }
    } else {
      try await post(request, body, attempt)
    }
  }

  /// The request with the method and the condition of this upload.
  func prepared(_ request: TransferRequest, for upload: FileUpload) -> TransferRequest {
    var request = request
    request.method = method(request)
    if request.method == .put, upload.onlyIfAbsent { request.headers[.ifNoneMatch] = "*" }
    return request
  }

  private func makeBody(
    _ attempt: UploadAttempt, _ request: inout TransferRequest
  ) throws(TransferError) -> UploadBody {
    guard let form else { return attempt.body(of: attempt.source.range).body }
    return try form.body(of: attempt, &request)
  }

  private func method(_ request: TransferRequest) -> HTTPRequest.Method {
    if form != nil { return request.method == .put ? .put : .post }
    return request.method == .post ? .post : .put
  }

  /// Records first that a POST is being sent: after a crash this record means that its outcome is unknown.
  private func post(
    _ request: TransferRequest, _ body: UploadBody, _ attempt: UploadAttempt
  ) async throws(TransferError) {
    if case .posting? = attempt.ledger.progress { throw .upload(.outcomeUnknown) }
    try await attempt.ledger.record(.posting, for: attempt)
    let response: UploadResponse
    do throws(TransferError) {
      response = try await attempt.wire.send(request, body, .init(isOnce: true))
    } catch {
      if body.meter.taken < body.size || !error.isCancellation { attempt.ledger.clear() }
      throw error
    }
    // It is not sent again: that could store the file twice.
    if response.isOutcomeUnknown { throw .upload(.outcomeUnknown) }
    attempt.ledger.clear()
    _ = try response.success()
    attempt.tracker.acknowledge(attempt.source.size)
  }

  /// A POST that may have been carried out cannot be undone, and a PUT left nothing that could be resumed.
  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) {}
}
