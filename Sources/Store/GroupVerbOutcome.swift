public import TransferAPI

/// What a verb on a batch, on a state or on all jobs has changed.
public struct GroupVerbOutcome: Equatable, Sendable {
  /// The number of jobs that were changed.
  public var changed = 0
  /// The number of jobs whose state the verb does not change.
  public var skipped = 0
  /// Jobs that were not changed, because the verb needs more than their row: those that run, if the verb stops them, and those
  /// that have files, uploads on servers, secrets, a place in a line of uploads, or a destination that is in use. Ordered.
  public var others: [JobID] = []

  public init() {}
}
