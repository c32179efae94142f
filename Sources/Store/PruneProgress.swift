import FoundationEssentials
import GRDB
import TransferAPI

/// How far a pruning of the history has come. Begins with `PruneProgress()`.
public struct PruneProgress: Equatable, Sendable {
  var event: Int64 = 0
  /// The newest event when it began: what others add meanwhile is none of this pruning's business, whatever its time.
  var lastEvent: Int64?
  var areEventsDone = false
  var attemptsOfJob: Int64 = 0
  /// Nothing is left to look at.
  public internal(set) var isDone = false
  /// Rows that were deleted so far.
  public internal(set) var deleted = 0

  public init() {}
}
