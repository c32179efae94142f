public import FoundationEssentials

/// What remains to be done when a job has ended. It is stored in the transaction that ends the job, done afterwards, and done
/// again after a crash until the store records that it is done.
public struct FollowUp: Equatable, Sendable {
  /// What is to be done with the uploaded file; only with `complete`.
  public var fileAction: PendingFileAction?
  /// The newest ledger of an upload that is cancelled; `nil`: the row's.
  public var leftovers: Data?
  /// Report the end to a configured command, if the job is `completed` or `failed`.
  public var wantsHook = false

  public init() {}
}
