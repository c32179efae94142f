public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// Ends the attempt of a running job: the only way out of `running`.
  /// - Returns: `false`, without any change, if the job no longer runs under that fence.
  /// - Throws: `invalid` for an event that does not end an attempt.
  @discardableResult
  public func settle(_ settlement: Settlement, at now: Date) async throws(StoreError) -> Bool {
    try await settle([settlement], claiming: [], at: now).settled.first ?? false
  }

  /// Ends attempts and begins others, all in one transaction: slots that become free are taken at once.
  /// - Parameter closedWindows: jobs with one of these windows are not claimed.
  /// - Returns: for each settlement, in order, whether the job was still running under that fence (otherwise nothing was
  ///   changed); and the claimed jobs, as `claim` returns them.
  /// - Throws: `invalid`, without any change, for an event that does not end an attempt.
  public func settle(
    _ settlements: [Settlement], claiming ids: [JobID], at now: Date, closedWindows: ClosedWindows = [:]
  ) async throws(StoreError) -> (settled: [Bool], claimed: [JobRecord]) {
    let timings = settlements.map { settlement in settlement.attempt.timings?.json() }
    return try await queue.run(weight: settlements.count * 3 + ids.count * 2) { transaction in
      var settled: [Bool] = []
      for (settlement, timings) in zip(settlements, timings) {
        settled.append(try transaction.settle(settlement, timings: timings, at: now))
      }
      return (settled, try transaction.claim(ids, at: now, closedWindows))
    }
  }
}

extension Attempt.Timings {
  /// The same text as `WireCoding` writes, at a fraction of the cost.
  func json() -> String {
    func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "0" }
    return """
      {"connect":\(number(connect)),"connectionReused":\(connectionReused),"firstByte":\(number(firstByte)),\
      "nameLookup":\(number(nameLookup)),"tls":\(number(tls)),"total":\(number(total))}
      """
  }
}

extension Transaction {
  fileprivate mutating func settle(_ settlement: Settlement, timings: String?, at now: Date) throws -> Bool {
    let id = settlement.id
    let found = try row(
      """
      SELECT kind, owner, batch, bytes_done, bytes_total, attempt, attempt_number, attempt_started_at, started_at,
        crashes, crash_marks, retry_delay, failing_since, error_code, error_message, error_status, error_transient
      FROM job WHERE id = :id AND fence = :fence AND state = 'running'
      """
    ) { bind in
      bind("id", id)
      bind("fence", settlement.fence)
    } read: {
      try SettledJob(&$0)
    }
    guard var job = found else { return false }
    let before = job.share
    try job.apply(settlement, at: now)
    try noteLeftovers(settlement, to: job.state, at: now)
    if job.state == .completed {
      try complete(id, job, settlement, at: now)
    } else {
      try update(id, to: job, now: now)
    }
    if job.kind.mayUpload, job.state.isFinal { try leaveLine(id) }
    if settlement.beginsUpload { try beginUpload(of: id) }
    if job.state == .cancelled { try beginAgain(id) }
    sums.replace(before, by: job.share, owner: job.owner, batch: job.batch)
    try insertAttempt(settlement, of: job, timings: timings, now: now)
    try storeSources(settlement.sources, of: id)
    try note(
      .state, job: id, of: job.owner, at: now, from: .running, to: job.state, reason: settlement.reason,
      error: job.newError, result: job.result)
    try noteHook(of: id, settlement.followUp.wantsHook, to: job.state, at: now)
    return true
  }

  /// The file's name and its record become true together with the end of the job.
  private func complete(_ id: JobID, _ job: SettledJob, _ settlement: Settlement, at now: Date) throws {
    // Most jobs end this way, and each index whose columns a statement names costs time.
    try run(
      """
      UPDATE job SET state = 'completed', bytes_done = :bytes_done, bytes_total = :bytes_total, attempt = :attempt,
        crashes = :crashes, finished_at = :finished_at, failing_since = NULL, result = :result, resume_data = NULL,
        finishing_device = NULL, finishing_inode = NULL, finishing_record = NULL,
        error_code = NULL, error_message = NULL, error_status = NULL, error_transient = NULL
      WHERE id = :id
      """
    ) { bind in
      bind("bytes_done", job.bytesDone)
      bind("bytes_total", job.bytesTotal)
      bind("attempt", job.attempt)
      bind("crashes", job.crashes)
      bind("finished_at", now)
      bind("result", job.result?.rawValue)
      bind("id", id)
    }
    if job.hasForgottenCrashMarks {
      try run("UPDATE job SET crash_marks = 0 WHERE id = :id") { $0("id", id) }
    }
    if let destination = settlement.destination {
      try run("UPDATE job SET destination = :destination WHERE id = :id") { bind in
        bind("destination", destination)
        bind("id", id)
      }
    }
    if let record = settlement.fileRecord { try storeFileRecord(record, of: id, at: now) }
  }

  private func update(_ id: JobID, to job: SettledJob, now: Date) throws {
    try run(
      """
      UPDATE job SET state = :state, bytes_done = :bytes_done, bytes_total = :bytes_total, attempt = :attempt,
        crashes = :crashes, crash_marks = :crash_marks, retry_at = :retry_at, retry_delay = :retry_delay,
        finished_at = :finished_at, failing_since = :failing_since, result = :result,
        resume_data = CASE WHEN :keeps_resume_data THEN resume_data ELSE :resume_data END,
        finishing_device = CASE WHEN :clears_finishing THEN NULL ELSE finishing_device END,
        finishing_inode = CASE WHEN :clears_finishing THEN NULL ELSE finishing_inode END,
        finishing_record = CASE WHEN :clears_finishing THEN NULL ELSE finishing_record END,
        error_code = :error_code, error_message = :error_message, error_status = :error_status,
        error_transient = :error_transient
      WHERE id = :id
      """
    ) { bind in
      bind("state", job.state.rawValue)
      bind("bytes_done", job.bytesDone)
      bind("bytes_total", job.bytesTotal)
      bind("attempt", job.attempt)
      bind("crashes", job.crashes)
      bind("crash_marks", job.crashMarks)
      bind("retry_at", job.retryAt)
      bind("retry_delay", job.retryDelay)
      bind("finished_at", job.state.isFinal ? now : nil)
      bind("failing_since", job.failingSince)
      bind("result", job.result?.rawValue)
      bind("keeps_resume_data", job.resumeData == .keep)
      if case .set(let data) = job.resumeData { bind("resume_data", data) } else { bind.null("resume_data") }
      bind("clears_finishing", job.resumeData == .clear)
      bind.failure(job.error)
      bind("id", id)
    }
  }

  /// Writes the attempt's row, when the attempt ends: a crash loses nothing, because the job's row says that the attempt runs, its
  /// number and since when.
  private func insertAttempt(_ settlement: Settlement, of job: SettledJob, timings: String?, now: Date) throws {
    let end = settlement.attempt
    try run(
      """
      INSERT OR REPLACE INTO attempt (job, number, started_at, ended_at, outcome, resumed_from, bytes_received,
        http_status, remote_address, network_protocol, timings,
        error_code, error_message, error_status, error_transient)
      VALUES (:job, :number, :started_at, :ended_at, :outcome, :resumed_from, :bytes_received,
        :http_status, :remote_address, :network_protocol, :timings,
        :error_code, :error_message, :error_status, :error_transient)
      """
    ) { bind in
      bind("job", settlement.id)
      bind("number", job.number)
      bind("started_at", job.startedAt)
      bind("ended_at", end.isEndUnknown || settlement.crashed ? nil : now)
      bind("outcome", end.outcome?.rawValue)
      bind("resumed_from", end.resumedFrom)
      bind("bytes_received", end.bytesReceived)
      bind("http_status", end.httpStatus)
      bind("remote_address", end.remoteAddress)
      bind("network_protocol", end.networkProtocol)
      bind("timings", timings)
      bind.failure(end.error)
    }
  }
}

/// The columns of a job that a settlement changes.
private struct SettledJob {
  let kind: JobKind
  let owner: UInt32
  let batch: String?
  var state = JobState.running
  var attempt: Int
  let number: Int
  /// When the attempt began.
  let startedAt: Int64
  var crashes: Int
  var crashMarks: Int
  /// The settlement has set `crashMarks` to 0.
  var hasForgottenCrashMarks = false
  var retryDelay: Int64
  var retryAt: Date?
  var failingSince: Date?
  var bytesDone: Int64
  var bytesTotal: Int64?
  /// `clear` also forgets the `finishing` file.
  var resumeData = Settlement.ResumeDataChange.keep
  /// `nil` for a file that was transferred, and for jobs that have not completed.
  var result: JobResult?
  var error: JobFailure?
  /// For the history: the error that came with this settlement.
  var newError: JobFailure?

  /// What the job adds to the sums.
  var share: StateSums.Share { .init(state: state, bytesDone: bytesDone, bytesTotal: bytesTotal, result: result) }

  init(_ row: inout RowReader) throws {
    kind = try row.word("kind")
    owner = try row.uid("owner")
    batch = try row.optionalText("batch")
    bytesDone = try row.int64("bytes_done")
    bytesTotal = try row.optionalInt64("bytes_total")
    attempt = try row.int("attempt")
    number = try row.int("attempt_number")
    let attemptStartedAt = try row.optionalInt64("attempt_started_at")
    startedAt = try attemptStartedAt ?? row.int64("started_at")
    crashes = try row.int("crashes")
    crashMarks = try row.int("crash_marks")
    retryDelay = try row.int64("retry_delay")
    failingSince = try row.optionalDate("failing_since")
    error = try row.failure()
  }

  mutating func apply(_ settlement: Settlement, at now: Date) throws(InvalidTransition) {
    state = try state.applying(settlement.event)
    if settlement.resetAttempts { attempt = 1 }
    if settlement.crashed || settlement.isUncounted { attempt = max(0, attempt.saturatingSum(-1)) }
    crashes = settlement.crashed ? crashes.saturatingSum(settlement.isMarked ? 0 : 1) : 0
    // An attempt that was cut off, or stopped and continues later, does not show that the daemon survives the job.
    if !settlement.crashed, !settlement.attempt.isEndUnknown, settlement.event != .requeue || settlement.beginsUpload {
      hasForgottenCrashMarks = crashMarks > 0
      crashMarks = 0
    }
    switch state {
    // A wait for space on the disk is no failure of the job.
    case .retrying: failingSince = settlement.isUncounted ? nil : settlement.resetAttempts ? now : failingSince ?? now
    case .queued: break
    case .running, .paused, .completed, .failed, .cancelled: failingSince = nil
    }
    bytesDone = settlement.bytesDone
    bytesTotal = settlement.bytesTotal
    resumeData = settlement.resumeData
    switch state {
    case .completed:
      bytesDone = bytesTotal ?? bytesDone
      resumeData = .clear
      result = settlement.result == .transferred ? nil : settlement.result
      error = nil
    case .failed: newError = settlement.failure ?? .unexplained(settlement.reason)
    case .retrying:
      newError = settlement.failure ?? .unexplained(settlement.reason)
      retryDelay = max(0, settlement.retryDelay.milliseconds)
      retryAt = settlement.retryAt ?? Date(milliseconds: now.milliseconds.saturatingSum(retryDelay))
    case .cancelled:
      newError = .cancelled(settlement.reason)
      bytesDone = 0
      resumeData = .clear
    case .queued, .paused, .running: break
    }
    if settlement.beginsUpload { (attempt, error) = (0, nil) }
    error = newError ?? error
  }
}

extension JobFailure {
  /// The error of a cancelled job.
  static func cancelled(_ reason: String?) -> JobFailure {
    JobFailure(code: .cancelled, message: reason ?? "cancelled", transient: false)
  }

  fileprivate static func unexplained(_ reason: String?) -> JobFailure {
    JobFailure(code: .internal, message: reason ?? "failed without a reason", transient: false)
  }
}
