public import TransferAPI

/// The result of adding one job.
public struct Submission: Equatable, Sendable {
  public var id: JobID
  /// The key was known: nothing was added, and `id` is the job with that key.
  public var existing: Bool
  public var state: JobState
  /// The owner's unfinished upload to the same URL that goes first.
  public var blockedBy: JobID?

  public init(id: JobID, existing: Bool, state: JobState, blockedBy: JobID? = nil) {
    self.id = id
    self.existing = existing
    self.state = state
    self.blockedBy = blockedBy
  }
}
