import TransferAPI
import WireValues

/// The state of a wait for many jobs: their sums, and a limited number of the failures that were printed. No I/O.
struct JobSums: Sendable {
  private(set) var latest = WatchSums(counts: StateCounts())
  /// Whether sums have arrived.
  private(set) var hasBegun = false
  private var announced: Set<JobID> = []
  /// Jobs that were removed while they were awaited.
  private var removed = 0

  /// Maximum number of failures that are printed when they happen. Further ones are printed at the end, so that they
  /// take no memory.
  private static let maximumAnnounced = 10_000

  mutating func read(_ sums: WatchSums) {
    // Jobs that are added hide as many removed ones.
    // checked: counts of rows
    if hasBegun, sums.counts.total < latest.counts.total { removed += latest.counts.total - sums.counts.total }
    latest = sums
    hasBegun = true
  }

  /// - Parameters:
  ///   - isOfAll: whether all jobs are awaited, so that a removed one is one of them.
  ///   - isPrinted: whether the returned text will be printed. If not, the failure is printed at the end.
  /// - Returns: what to print; `nil`: nothing now.
  mutating func take(_ event: Event, isOfAll: Bool, isPrinted: Bool) -> String? {
    guard event.kind != .removed else {
      guard isOfAll else { return nil }
      removed = removed.saturatingSum(1)
      return "job \(event.job) was removed"
    }
    guard let state = event.to, state == .failed || state == .cancelled, isPrinted,
      announced.count < Self.maximumAnnounced
    else { return nil }
    announced.insert(event.job)
    return JobTracker.words(event.job, JobTracker.Entry(state: state, error: event.error))
  }

  func hasAnnounced(_ id: JobID) -> Bool { announced.contains(id) }

  /// What the jobs have done, after their end.
  var results: WaitResults {
    let counts = latest.counts
    return WaitResults(
      completed: latest.results ?? JobResults(completed: counts.completed, unchanged: 0, skipped: 0),
      failed: counts.failed.saturatingSum(counts.cancelled).saturatingSum(removed))
  }

  var hasFailed: Bool { latest.counts.failed > 0 || latest.counts.cancelled > 0 || removed > 0 }
}
