/// One protocol for uploads. It performs one attempt, continues from a ledger, and records what becomes durable.
protocol UploadStrategy: Sendable {
  /// Sends the upload. Returns when the server has everything.
  func perform(_ attempt: UploadAttempt) async throws(TransferError)
  /// Deletes what an unfinished upload left on the server. Succeeds if nothing is left.
  func abandon(_ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient)
    async throws(TransferError)
}
