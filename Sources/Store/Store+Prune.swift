public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// Number of rows that one step examines: a transaction of a few milliseconds.
  static let pruneStep = 500
  /// Number of attempts that are kept of an unfinished job, however old: those that `detail` shows.
  static let keptAttempts = 100

  /// Deletes a small part of the history that is older than `limit`: events of jobs that have ended or are gone; attempts of
  /// jobs that have ended, and all but the newest 100 attempts of other jobs. Call it until `isDone`: other transactions run
  /// between the calls.
  ///
  /// Numbers of deleted events are never used again. The freed space is used again; the file does not shrink.
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

  /// Events are in the order of their times, unless the clock was set back: a step without an old event is the last one.
  private func pruneEvents(_ progress: inout PruneProgress, _ limit: Int64) async throws(StoreError) {
    let start = progress.event
    var last = progress.lastEvent ?? 0
    if progress.lastEvent == nil { last = try await lastEvent(in: .everything) }
    progress.lastEvent = last
    let found: Window? = try await read { db in
      try Window.fetch(
        db,
        """
        SELECT max(seq) AS end, min(at) AS oldest
        FROM (SELECT seq, at FROM event WHERE seq > :start ORDER BY seq LIMIT :limit)
        """, start)
    }
    guard start < last, let window = found, window.oldest < limit else {
      progress.areEventsDone = true
      return
    }
    progress.event = window.end
    progress.deleted += try await delete(
      """
      DELETE FROM event WHERE seq > :start AND seq <= :end AND at < :limit AND NOT EXISTS (
        SELECT 1 FROM job WHERE job.id = event.job AND job.finished_at IS NULL)
      """, start, window.end, limit)
  }

  private func pruneAttempts(_ progress: inout PruneProgress, _ limit: Int64) async throws(StoreError) {
    let start = progress.attemptsOfJob
    let found: Window? = try await read { db in
      try Window.fetch(
        db,
        """
        SELECT max(job) AS end, min(started_at) AS oldest FROM (
          SELECT job, started_at FROM attempt WHERE job > :start ORDER BY job, number LIMIT :limit)
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
      DELETE FROM attempt WHERE job > :start AND job <= :end AND COALESCE(ended_at, started_at) < :limit AND EXISTS (
        SELECT 1 FROM job WHERE job.id = attempt.job
          AND (job.finished_at IS NOT NULL OR attempt.number <= job.attempt_number - \(Self.keptAttempts)))
      """, start, window.end, limit)
  }

  private func delete(_ sql: String, _ start: Int64, _ end: Int64, _ limit: Int64) async throws(StoreError) -> Int {
    try await queue.run(weight: Self.pruneStep) { transaction in
      try transaction.db.run(sql) { bind in
        bind("start", start)
        bind("end", end)
        bind("limit", limit)
      }
      return transaction.db.changesCount
    }
  }
}

/// The rows that one step examines.
private struct Window: Sendable {
  let end: Int64
  /// The time of the oldest row.
  let oldest: Int64

  /// - Returns: `nil`: there are no rows left.
  static func fetch(_ db: Database, _ sql: String, _ start: Int64) throws -> Window? {
    try db.row(sql) { bind in
      bind("start", start)
      bind("limit", Store.pruneStep)
    } read: { row in
      guard let end = try row.optionalInt64("end"), let oldest = try row.optionalInt64("oldest") else { return nil }
      return Window(end: end, oldest: oldest)
    } ?? nil
  }
}
