public import TransferAPI

/// A job in a list.
public struct ListedJob: Equatable, Sendable {
  /// Without its secrets.
  public var job: Job
  /// `nil` unless the job is queued or retrying.
  public var waitFacts: WaitFacts?
}
