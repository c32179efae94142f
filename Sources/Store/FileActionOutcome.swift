public import FoundationEssentials
public import TransferAPI

/// How an attempt at a file action ended.
public struct FileActionOutcome: Equatable, Sendable {
  public enum End: Equatable, Sendable {
    case done
    /// There is no further attempt.
    case failed
    /// The next attempt may succeed.
    case postponed(until: Date)
  }

  public var job: JobID
  public var end: End
  /// What was done, or why not.
  public var message: String

  public init(job: JobID, end: End, message: String) {
    self.job = job
    self.end = end
    self.message = message
  }
}
