/// How far a pruning of the history has come. Begins with `PruneProgress()`.
public struct PruneProgress: Equatable, Sendable {
  var event: Int64 = 0
  /// The newest event when the pruning began: events that are added later are not pruned, whatever their time.
  var lastEvent: Int64?
  var areEventsDone = false
  var attemptsOfJob: Int64 = 0
  /// Nothing is left to look at.
  public internal(set) var isDone = false
  /// Rows that were deleted so far.
  public internal(set) var deleted = 0

  public init() {}
}
