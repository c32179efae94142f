public import FoundationEssentials
public import TransferAPI

/// What the clock has brought: the result of ``Store/applyDueTimes(at:)``.
public struct DueJobs: Equatable, Sendable {
  /// The number of jobs whose start time has come.
  public var released = 0
  /// Jobs that have failed, because their deadline has passed while they did not run.
  public var expired: [JobID] = []
  /// Jobs that run, and whose deadline has passed: their attempts have to be stopped.
  public var running: [JobID] = []
  /// The earliest start time or deadline that is still to come; `nil`: there is none.
  public var next: Date?
}
