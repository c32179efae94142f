public import FoundationEssentials
import GRDB
import TransferAPI

/// How far a pruning of the history has come. Begins with `PruneProgress()`.
public struct PruneProgress: Equatable, Sendable {
  fileprivate var event: Int64 = 0
  /// The newest event when it began: what others add meanwhile is none of this pruning's business, whatever its time.
  fileprivate var lastEvent: Int64?
  fileprivate var areEventsDone = false
  fileprivate var attemptsOfJob: Int64 = 0
  /// Nothing is left to look at.
  public fileprivate(set) var isDone = false
  /// Rows that were deleted so far.
  public fileprivate(set) var deleted = 0

  public init() {}
}

extension Store {
  /// Rows that one step looks at: a transaction of a few milliseconds.
  static let pruneStep = 500
  /// Of a job that has not ended this many tries are kept, however old: those that `detail` shows.
  static let keptAttempts = 100

  /// Deletes a little of the history that is older than `limit`: events of jobs that have ended or are gone; tries of jobs
  /// that have ended, and of the others all but the newest 100. Called again and again until `isDone`, it has looked at
  /// all. Between two calls others write.
  ///
  /// Numbers of deleted events are never used again. The space is used again; the file does not shrink.
  public func prune(
    _ progress: PruneProgress, olderThan limit: Date
  ) async throws(StoreError) -> PruneProgress {
    var progress = progress
    if progress.isDone { return progress }
    if progress.areEventsDone {
      try await pruneAttempts(&progress, limit.milliseconds)
    } else {
      try await pruneEvents(&progress, limit.milliseconds)
    }
    return progress
  }

  /// Events stand in the order of their times, but for clocks that were set back: a step without an old one is the last.
  private func pruneEvents(_ progress: inout PruneProgress, _ limit: Int64) async throws(StoreError) {
    let start = progress.event
    var last = progress.lastEvent ?? 0
    if progress.lastEvent == nil { last = try await lastEvent(in: .everything) }
    progress.lastEvent = last
    let found: Window? = try await read { db in
      try Window.fetch(
        db, "SELECT max(seq), min(at) FROM (SELECT seq, at FROM event WHERE seq > ? ORDER BY seq LIMIT ?)", start)
    }
    guard start < last, let window = found, window.oldest < limit else {
      progress.areEventsDone = true
      return
    }
    progress.event = window.end
    progress.deleted += try await delete(
      """
      DELETE FROM event WHERE seq > ? AND seq <= ? AND at < ? AND NOT EXISTS (
        SELECT 1 FROM job WHERE job.id = event.job AND job.finished_at IS NULL)
      """, start, window.end, limit)
  }

  private func pruneAttempts(_ progress: inout PruneProgress, _ limit: Int64) async throws(StoreError) {
    let start = progress.attemptsOfJob
    let found: Window? = try await read { db in
      try Window.fetch(
        db,
        """
        SELECT max(job), min(started_at) FROM (
          SELECT job, started_at FROM attempt WHERE job > ? ORDER BY job, number LIMIT ?)
        """, start)
    }
    guard let window = found else {
      progress.isDone = true
      return
    }
    progress.attemptsOfJob = window.end
    guard window.oldest < limit else { return }
    progress.deleted += try await delete(
      """
      DELETE FROM attempt WHERE job > ? AND job <= ? AND COALESCE(ended_at, started_at) < ? AND EXISTS (
        SELECT 1 FROM job WHERE job.id = attempt.job
          AND (job.finished_at IS NOT NULL OR attempt.number <= job.attempt_number - \(Self.keptAttempts)))
      """, start, window.end, limit)
  }

  private func delete(_ sql: String, _ start: Int64, _ end: Int64, _ limit: Int64) async throws(StoreError) -> Int {
    try await queue.run(weight: Self.pruneStep) { transaction in
      try transaction.db.run(sql) { bind in
        bind(start)
        bind(end)
        bind(limit)
      }
      return transaction.db.changesCount
    }
  }
}

/// The rows that one step is about.
private struct Window: Sendable {
  let end: Int64
  /// When the oldest of them was.
  let oldest: Int64

  /// - Returns: `nil` where there is none.
  static func fetch(_ db: Database, _ sql: String, _ start: Int64) throws -> Window? {
    try db.row(sql) { bind in
      bind(start)
      bind(Store.pruneStep)
    } read: { reader in
      guard let end = try reader.optionalInt64(), let oldest = try reader.optionalInt64() else { return nil }
      return Window(end: end, oldest: oldest)
    } ?? nil
  }
}
