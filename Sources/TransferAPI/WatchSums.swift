/// The sums of many jobs for a watcher: `event: sums` of the event stream. At most four times a second.
public struct WatchSums: Codable, Equatable, Sendable {
  public var counts: StateCounts
  /// What the completed jobs have done; `nil` from a daemon of an earlier release.
  public var results: JobResults?
  /// The bytes of the jobs in the batch; `nil` for a watcher of all jobs.
  public var bytesDone: Int64?
  /// The sum of the sizes that are known; `nil` for a watcher of all jobs.
  public var bytesTotal: Int64?
  public var bytesPerSecond: Int64
  /// Uploaded files that are still to be deleted or moved.
  public var pendingActions: Int
  /// Uploaded files that could not be deleted or moved.
  public var failedActions: Int

  public init(
    counts: StateCounts, results: JobResults? = nil, bytesDone: Int64? = nil, bytesTotal: Int64? = nil,
    bytesPerSecond: Int64 = 0, pendingActions: Int = 0, failedActions: Int = 0
  ) {
    self.counts = counts
    self.results = results
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.bytesPerSecond = bytesPerSecond
    self.pendingActions = pendingActions
    self.failedActions = failedActions
  }

  /// Whether nothing is left to wait for.
  public var isSettled: Bool { counts.unfinished == 0 && pendingActions == 0 }
}
