public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// Number of jobs that one transaction releases.
  private static let releaseStep = 2000
  /// Number of jobs that one transaction fails: each has an event, and perhaps a hook.
  private static let expiryStep = 200

  /// Makes jobs candidates whose start time has come, and fails jobs whose deadline has passed while they did not run. Costs a
  /// look at two indexes if nothing is due.
  ///
  /// Durable when this returns. A crash in between leaves some of the jobs to the next call.
  /// - Parameter wantsHook: whether a failed job gets its hook.
  public func applyDueTimes(at now: Date, wantsHook: Bool) async throws(StoreError) -> DueJobs {
    var due = DueJobs()
    while true {
      // One snapshot: a job whose attempt ends meanwhile is either running or due.
      let rest = try await read { db in try Self.rest(db, now) }
      guard rest.isDue else {
        (due.running, due.next) = (rest.running, rest.next)
        return due
      }
      let (released, expired) = try await queue.run(weight: Self.releaseStep) { transaction in
        (
          try transaction.releaseDueJobs(at: now, limit: Self.releaseStep),
          try transaction.expireDueJobs(at: now, limit: Self.expiryStep, wantsHook: wantsHook)
        )
      }
      due.released += released
      due.expired += expired
    }
  }

  private static func rest(_ db: Database, _ now: Date) throws -> (isDue: Bool, running: [JobID], next: Date?) {
    let isDue = try db.row(somethingDue) {
      $0("now", now)
    } read: {
      try $0.bool("is_due")
    }
    let running = try db.rows(runningPastDeadline) {
      $0("now", now)
    } read: {
      try $0.jobID("id")
    }
    let next = try db.row(nextTime) {
      $0("now", now)
    } read: {
      try $0.optionalDate("time")
    }
    return (isDue ?? false, running, next ?? nil)
  }

  static let somethingDue = """
    SELECT EXISTS (SELECT 1 FROM job INDEXED BY job_waits_until WHERE waits_until <= :now)
      OR EXISTS (SELECT 1 FROM job INDEXED BY job_deadline
        WHERE deadline <= :now AND finished_at IS NULL AND state <> 'running') AS is_due
    """

  static let runningPastDeadline = """
    SELECT id FROM job INDEXED BY job_deadline WHERE deadline <= :now AND finished_at IS NULL AND state = 'running'
    ORDER BY deadline
    """

  static let nextTime = """
    SELECT min(time) AS time FROM (
      SELECT (SELECT waits_until FROM job INDEXED BY job_waits_until WHERE waits_until > :now
        ORDER BY waits_until LIMIT 1) AS time
      UNION ALL
      SELECT (SELECT deadline FROM job INDEXED BY job_deadline WHERE deadline > :now AND finished_at IS NULL
        ORDER BY deadline LIMIT 1))
    """
}

extension Transaction {
  /// - Returns: the number of jobs that no longer wait for their start time.
  fileprivate func releaseDueJobs(at now: Date, limit: Int) throws -> Int {
    try run(
      """
      UPDATE job SET waits_until = NULL WHERE id IN (
        SELECT id FROM job INDEXED BY job_waits_until WHERE waits_until <= :now ORDER BY waits_until LIMIT :limit)
      """
    ) { bind in
      bind("now", now)
      bind("limit", limit)
    }
    return db.changesCount
  }

  /// - Returns: the jobs that have failed. Their bytes are kept.
  fileprivate mutating func expireDueJobs(at now: Date, limit: Int, wantsHook: Bool) throws -> [JobID] {
    let due = try db.rows(
      """
      SELECT id, deadline FROM job INDEXED BY job_deadline
      WHERE deadline <= :now AND finished_at IS NULL AND state <> 'running' ORDER BY deadline LIMIT :limit
      """
    ) { bind in
      bind("now", now)
      bind("limit", limit)
    } read: {
      (id: try $0.jobID("id"), deadline: try $0.date("deadline"))
    }
    for (id, deadline) in due { try expire(id, error: .deadline(deadline), at: now, wantsHook: wantsHook) }
    return due.map(\.id)
  }
}

extension JobFailure {
  /// The error of a job that had not ended by its deadline.
  public static func deadline(_ time: Date) -> JobFailure {
    JobFailure(
      code: .deadline, message: "the job had not ended by its deadline, \(WireCoding.rfc3339(time))", transient: false)
  }
}
