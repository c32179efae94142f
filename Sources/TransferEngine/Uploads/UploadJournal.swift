/// Makes an upload's ledger durable while it runs. Called from Swift's threads, one call at a time for one upload.
public protocol UploadJournal: Sendable {
  /// Makes the ledger durable before it returns. Called before every step that only the ledger knows about (an upload
  /// URL, an `UploadId`, a temporary name), and from time to time when the server acknowledges more. A plain PUT does
  /// not call it.
  /// - Parameters:
  ///   - ledger: what to store; it replaces what was stored before.
  ///   - acknowledged: bytes of the source that the server has acknowledged.
  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws
}
