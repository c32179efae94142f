import WireValues

/// What a strategy works with in one attempt.
struct UploadAttempt: Sendable {
  let upload: FileUpload
  /// The adapted request.
  let request: TransferRequest
  let source: OpenSource
  let wire: UploadClient
  let ledger: LedgerWriter
  let tracker: UploadTracker

  /// A range of the source as a transfer's body. The bytes that libcurl has taken count as progress until the transfer
  /// ends.
  func body(of range: Range<Int64>, gate: UploadGate? = nil) -> (body: UploadBody, number: Int) {
    let tracker = tracker
    let number = tracker.newTransfer()
    let body = UploadBody([.file(source, range)], gate: gate) { tracker.move(number, to: $0) }
    return (body, number)
  }
}

extension UploadAttempt {
  /// Continues the upload from the bytes that the server has. Returns when that is durable.
  func resume(from bytes: Int64) async throws(TransferError) {
    tracker.resume(from: bytes)
    try await ledger.confirm(acknowledged: bytes)
  }
}
