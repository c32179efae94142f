import FoundationEssentials
import GRDB
public import TransferAPI

/// The result of adding one job.
public struct Submission: Equatable, Sendable {
  public var id: JobID
  /// The key was known: nothing was added, and `id` is the job with that key.
  public var existing: Bool
  public var state: JobState
  /// The unfinished upload to the same URL that goes first. It may be another user's.
  public var blockedBy: JobID?
  /// The owner of `blockedBy`.
  public var blockerOwner: UInt32?

  public init(
    id: JobID, existing: Bool, state: JobState, blockedBy: JobID? = nil, blockerOwner: UInt32? = nil
  ) {
    self.id = id
    self.existing = existing
    self.state = state
    self.blockedBy = blockedBy
    self.blockerOwner = blockerOwner
  }
}
