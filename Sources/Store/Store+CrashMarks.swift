public import FoundationEssentials
import GRDB
import TransferAPI

extension JobRecord {
  /// Crashes of the daemon after which a job runs alone. The indexes of the queue name the same number.
  public static let marksToRunAlone = 2

  /// The daemon crashed too often while the job ran: nothing else runs beside it.
  public var runsAlone: Bool { crashMarks >= Self.marksToRunAlone }
}

/// A crash of the daemon, counted against the jobs that ran.
public struct CountedCrash: Equatable, Sendable {
  /// The name of the run that crashed.
  public let run: String
  /// How many jobs it was counted against.
  public let jobs: Int
  /// Those jobs were recovered: jobs that are running now did not run then.
  public var isOver = false
}

extension Store {
  /// Counts a crash of the daemon against every job that was running. Once for each run, however often it is told: the run's
  /// name is stored in the same transaction.
  /// - Returns: the crash as it was counted now, or before.
  @discardableResult
  public func countCrash(ofRun run: String) async throws(StoreError) -> CountedCrash {
    try await queue.run { transaction in
      if let counted = try Meta.crash(transaction.db), counted.run == run { return counted }
      // A count without bounds would end in an error that keeps the daemon from starting.
      try transaction.run(
        "UPDATE job INDEXED BY job_state SET crash_marks = min(crash_marks + 1, 1000) WHERE state = 'running'", [])
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

  /// Jobs that may begin, but only alone: highest priority first, then in the order they were added.
  public func candidatesToRunAlone(
    now: Date, excludingOrigins: Set<String>, limit: Int
  ) async throws(StoreError) -> [Candidate] {
    try await read { db in
      try db.rows(Self.markedCandidates) { bind in
        bind(now.milliseconds)
      } read: { reader in
        Candidate(id: JobID(try reader.int64()), origin: try reader.text(), priority: try reader.int())
      }.filter { !excludingOrigins.contains($0.origin) }.prefix(limit).map(\.self)
    }
  }

  /// Whether an unfinished job is to run alone. Their number only grows when the daemon crashes.
  public func hasJobsToRunAlone() async throws(StoreError) -> Bool {
    try await read { db in
      try Int64.fetchOne(
        db, sql: "SELECT 1 FROM job INDEXED BY job_marked WHERE crash_marks >= 2 AND finished_at IS NULL LIMIT 1")
        != nil
    }
  }

  static let markedCandidates = """
    SELECT id, (SELECT name FROM origin WHERE origin.id = origin_id), priority FROM job INDEXED BY job_marked
    WHERE crash_marks >= 2 AND follows IS NULL AND (state = 'queued' OR state = 'retrying' AND retry_at <= ?)
    ORDER BY priority DESC, id
    """

  /// When they may begin as far as their own times tell.
  static let markedTimes = """
    SELECT (SELECT name FROM origin WHERE origin.id = origin_id), retry_at FROM job INDEXED BY job_marked
    WHERE crash_marks >= 2 AND follows IS NULL AND (state = 'queued' OR state = 'retrying')
    """
}

extension Transaction {
  /// A person wants the job tried as if nothing had happened.
  func forgetCrashMarks(of id: JobID) throws {
    try run("UPDATE job SET crash_marks = 0 WHERE id = ? AND crash_marks > 0", [id.rawValue])
  }
}
