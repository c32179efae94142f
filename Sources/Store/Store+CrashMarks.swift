public import FoundationEssentials
import GRDB
import TransferAPI

extension JobRecord {
  /// Crashes of the daemon after which a job runs alone. The indexes of the queue name the same number.
  public static let marksToRunAlone = 2

  /// The daemon crashed too often while the job ran: no other job runs beside it.
  public var runsAlone: Bool { crashMarks >= Self.marksToRunAlone }
}

extension Store {
  /// Counts a crash of the daemon against every job that was running. A run is counted once, however often this is called: the
  /// run's name is stored in the same transaction.
  /// - Returns: the crash as it was counted now or earlier.
  @discardableResult
  public func countCrash(ofRun run: String) async throws(StoreError) -> CountedCrash {
    try await queue.run { transaction in
      if let counted = try Meta.crash(transaction.db), counted.run == run { return counted }
      // Limited, because a count that overflows is an error, and the daemon could not start.
      try transaction.run(
        """
        UPDATE job SET crash_marks = min(crash_marks + 1, 1000) WHERE id IN (
          SELECT id FROM (SELECT DISTINCT owner FROM state_count WHERE batch = '') AS known
          CROSS JOIN job INDEXED BY job_owner_state ON job.owner = known.owner WHERE state = 'running')
        """)
      let crash = CountedCrash(run: run, jobs: transaction.db.changesCount)
      try Meta.noteCrash(transaction.db, crash)
      return crash
    }
  }

  /// Every job that was running is recovered.
  public func endCrash(ofRun run: String) async throws(StoreError) {
    try await queue.run { transaction in
      guard var crash = try Meta.crash(transaction.db), crash.run == run else { return }
      crash.isOver = true
      try Meta.noteCrash(transaction.db, crash)
    }
  }

  /// Jobs that may begin, but only alone: highest priority first, then in the order in which they were added.
  public func candidatesToRunAlone(
    now: Date, excludingOrigins: Set<String>, limit: Int
  ) async throws(StoreError) -> [Candidate] {
    try await read { db in
      try db.rows(Self.markedCandidates) { bind in
        bind("now", now)
      } read: { row in
        Candidate(id: try row.jobID("id"), origin: try row.text("origin"), priority: try row.int("priority"))
      }.filter { !excludingOrigins.contains($0.origin) }.prefix(limit).map(\.self)
    }
  }

  /// Whether an unfinished job has to run alone. The number of such jobs grows only when the daemon crashes.
  public func hasJobsToRunAlone() async throws(StoreError) -> Bool {
    try await read { db in
      try Int64.fetchOne(
        db, sql: "SELECT 1 FROM job INDEXED BY job_marked WHERE crash_marks >= 2 AND finished_at IS NULL LIMIT 1")
        != nil
    }
  }

  static let markedCandidates = """
    SELECT id, (SELECT name FROM origin WHERE origin.id = origin_id) AS origin, priority
    FROM job INDEXED BY job_marked
    WHERE crash_marks >= 2 AND blocked_by IS NULL AND waits_until IS NULL AND closed_until IS NULL
      AND open_dependencies = 0
      AND (state = 'queued' OR state = 'retrying' AND retry_at <= :now)
    ORDER BY priority DESC, id
    """

  /// When these jobs may begin by their own times.
  static let markedTimes = """
    SELECT (SELECT name FROM origin WHERE origin.id = origin_id) AS origin, retry_at FROM job INDEXED BY job_marked
    WHERE crash_marks >= 2 AND blocked_by IS NULL AND waits_until IS NULL AND closed_until IS NULL
      AND open_dependencies = 0 AND (state = 'queued' OR state = 'retrying')
    """
}

extension Transaction {
  /// Clears the crash marks. Used for an explicit retry, which starts the job without its history of crashes.
  func forgetCrashMarks(of id: JobID) throws {
    try run("UPDATE job SET crash_marks = 0 WHERE id = :id AND crash_marks > 0") { $0("id", id) }
  }
}
