public import FoundationEssentials
import GRDB
public import TransferAPI

/// Windows that are closed now, each with the time at which it opens.
public typealias ClosedWindows = [DailyWindow: Date]

extension Store {
  /// Number of jobs that one transaction closes or opens.
  private static let windowStep = 2000

  /// The windows of all unfinished jobs. Its cost grows with their number, not with that of the jobs.
  public func windows() async throws(StoreError) -> [DailyWindow] {
    try await read { db in
      try db.rows(Self.windowNames) { try $0.text("name") }.compactMap { try? DailyWindow(parsing: $0) }
    }
  }

  /// Closes and opens the windows of jobs: a job whose window is closed is no candidate. Costs a few reads of an index if nothing
  /// has changed.
  ///
  /// Durable when this returns. A crash in between leaves some of the jobs to the next call.
  /// - Parameter open: the other windows that unfinished jobs have.
  /// - Returns: the number of jobs whose windows have opened, and the running jobs whose windows are closed.
  public func applyWindows(
    closed: ClosedWindows, open: [DailyWindow]
  ) async throws(StoreError) -> (opened: Int, running: [JobID]) {
    var opened = 0
    for window in open {
      let name = window.description
      while try await read({ db in try db.hasClosedJobs(name, otherThan: nil) }) {
        opened += try await queue.run(weight: Self.windowStep) { transaction in
          try transaction.open(name, limit: Self.windowStep)
        }
      }
    }
    var running: [JobID] = []
    for (window, opening) in closed {
      let name = window.description
      while try await read({ db in
        try db.hasOpenJobs(name) || db.hasClosedJobs(name, otherThan: opening)
      }) {
        try await queue.run(weight: Self.windowStep) { transaction in
          try transaction.close(name, until: opening, limit: Self.windowStep)
        }
      }
      running += try await read { db in
        try db.rows(Self.runningInWindow) {
          $0("window", name)
        } read: {
          try $0.jobID("id")
        }
      }
    }
    return (opened, running.sorted())
  }

  /// Jumps from window to window by the index; jobs in between are not read.
  static let windowNames = """
    WITH RECURSIVE known (name) AS (
      SELECT (SELECT min(run_window) FROM job INDEXED BY job_window
        WHERE run_window IS NOT NULL AND finished_at IS NULL)
      UNION ALL
      SELECT (SELECT min(run_window) FROM job INDEXED BY job_window
        WHERE run_window IS NOT NULL AND finished_at IS NULL AND run_window > known.name)
      FROM known WHERE known.name IS NOT NULL)
    SELECT name FROM known WHERE name IS NOT NULL
    """

  static let runningInWindow = """
    SELECT id FROM job INDEXED BY job_window
    WHERE run_window = :window AND finished_at IS NULL AND closed_until IS NULL AND state = 'running'
    """
}

extension Database {
  /// Whether a job that does not run has this window and is not closed.
  fileprivate func hasOpenJobs(_ window: String) throws -> Bool {
    try row(
      """
      SELECT 1 AS found FROM job INDEXED BY job_window
      WHERE run_window = :window AND finished_at IS NULL AND closed_until IS NULL AND state <> 'running' LIMIT 1
      """
    ) {
      $0("window", window)
    } read: {
      try $0.bool("found")
    } ?? false
  }

  /// Whether a job with this window is closed until another time.
  /// - Parameter opening: `nil`: whether it is closed at all.
  fileprivate func hasClosedJobs(_ window: String, otherThan opening: Date?) throws -> Bool {
    let time = opening ?? Date(milliseconds: Date.storableMilliseconds.lowerBound)
    return try row(
      """
      SELECT (EXISTS (SELECT 1 FROM job INDEXED BY job_window
          WHERE run_window = :window AND finished_at IS NULL AND closed_until < :time)
        OR EXISTS (SELECT 1 FROM job INDEXED BY job_window
          WHERE run_window = :window AND finished_at IS NULL AND closed_until > :time)) AS found
      """
    ) { bind in
      bind("window", window)
      bind("time", time)
    } read: {
      try $0.bool("found")
    } ?? false
  }
}

extension Transaction {
  /// The job is no candidate before this time.
  func close(_ id: JobID, until opening: Date) throws {
    try run("UPDATE job SET closed_until = :opening WHERE id = :id") { bind in
      bind("opening", opening)
      bind("id", id)
    }
  }

  fileprivate func close(_ window: String, until opening: Date, limit: Int) throws {
    try run(
      """
      UPDATE job SET closed_until = :opening WHERE id IN (
        SELECT id FROM (SELECT id FROM job INDEXED BY job_window
          WHERE run_window = :window AND finished_at IS NULL AND closed_until IS NULL AND state <> 'running' LIMIT :limit)
        UNION ALL
        SELECT id FROM (SELECT id FROM job INDEXED BY job_window
          WHERE run_window = :window AND finished_at IS NULL AND closed_until < :opening LIMIT :limit)
        UNION ALL
        SELECT id FROM (SELECT id FROM job INDEXED BY job_window
          WHERE run_window = :window AND finished_at IS NULL AND closed_until > :opening LIMIT :limit))
      """
    ) { bind in
      bind("window", window)
      bind("opening", opening)
      bind("limit", limit)
    }
  }

  /// - Returns: the number of jobs that were closed.
  fileprivate func open(_ window: String, limit: Int) throws -> Int {
    try run(
      """
      UPDATE job SET closed_until = NULL WHERE id IN (
        SELECT id FROM job INDEXED BY job_window
        WHERE run_window = :window AND finished_at IS NULL AND closed_until > :time LIMIT :limit)
      """
    ) { bind in
      bind("window", window)
      bind("time", Date(milliseconds: Date.storableMilliseconds.lowerBound))
      bind("limit", limit)
    }
    return db.changesCount
  }
}
