public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

/// The end of an attempt, and what becomes of its job.
public struct Settlement: Equatable, Sendable {
  public var id: JobID
  /// Of the claim under which the job runs.
  public var fence: Int64
  /// `complete`, `fail`, `postpone`, `requeue`, `pause` or `cancel`.
  public var event: JobEvent
  /// Why, for people.
  public var reason: String?
  /// Kept as the job's error by `fail` and `postpone`.
  public var failure: JobFailure?
  /// When the next try begins; only with `postpone`. `nil`: `retryDelay` from now.
  public var retryAt: Date?
  /// How long that is; what a clock that is set back cannot prolong.
  public var retryDelay: Duration = .zero
  public var bytesDone: Int64
  public var bytesTotal: Int64?
  public var resumeData: ResumeDataChange = .keep
  public var attempt = AttemptEnd()
  /// The try made progress, so it counts as the first of a new row of tries.
  public var resetAttempts = false
  /// The attempt is not one of those that may fail: it waited for room on the disk.
  public var isUncounted = false
  /// The try was cut off by the daemon's unexpected end: it does not count as a try, but as a crash. Every
  /// other settlement ends a row of crashes.
  public var crashed = false
  /// With `crashed`: that end left a mark, which was counted by itself. The row of crashes stays as it is.
  public var isMarked = false
  /// What is to be done once the job has ended; stored with its end.
  public var aftermath = Aftermath()

  public enum ResumeDataChange: Equatable, Sendable {
    case keep
    case set(Data)
    case clear
  }

  public init(id: JobID, fence: Int64, event: JobEvent, bytesDone: Int64, bytesTotal: Int64?) {
    self.id = id
    self.fence = fence
    self.event = event
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
  }
}

/// What an attempt's row tells when it is over; `Attempt` says what the fields mean.
public struct AttemptEnd: Equatable, Sendable {
  public var outcome: Attempt.Outcome?
  public var resumedFrom: Int64 = 0
  public var bytesReceived: Int64 = 0
  public var httpStatus: Int?
  public var remoteAddress: String?
  public var networkProtocol: String?
  public var timings: Attempt.Timings?
  public var error: JobFailure?
  /// It was cut off with the daemon: nobody knows when.
  public var isEndUnknown = false
  public init() {}
}

extension Store {
  /// Ends the attempt of a running job: the only way out of `running`.
  /// - Returns: `false`, and nothing was changed, where the job is not running under that fence any more.
  /// - Throws: `invalid` for an event that does not end an attempt.
  @discardableResult
  public func settle(_ settlement: Settlement, at now: Date) async throws(StoreError) -> Bool {
    try await settle([settlement], claiming: [], at: now).settled.first ?? false
  }

  /// Ends attempts and lets others begin, all in one transaction: slots that become free are taken at once.
  /// - Returns: for each settlement, in order, whether the job was still running under that fence, else nothing was
  ///   changed; and the claimed jobs as `claim` answers them.
  /// - Throws: `invalid` for an event that does not end an attempt. Nothing was changed then.
  public func settle(
    _ settlements: [Settlement], claiming ids: [JobID], at now: Date
  ) async throws(StoreError) -> (settled: [Bool], claimed: [JobRecord]) {
    let timings = settlements.map { settlement in settlement.attempt.timings?.json() }
    return try await queue.run(weight: settlements.count * 3 + ids.count * 2) { transaction in
      var settled: [Bool] = []
      for (settlement, timings) in zip(settlements, timings) {
        settled.append(try transaction.settle(settlement, timings: timings, at: now))
      }
      return (settled, try ids.compactMap { id in try transaction.claim(id, at: now) })
    }
  }
}

extension Attempt.Timings {
  /// What `WireCoding` makes of it, without its cost for each job.
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
    let sql = """
      SELECT attempt, attempt_number, crashes, crash_marks, retry_delay,
        error_code, error_message, error_status, error_transient, owner
      FROM job WHERE id = ? AND fence = ? AND state = 'running'
      """
    let found = try db.row(sql) { bind in
      bind(id.rawValue)
      bind(settlement.fence)
    } read: { reader in
      SettledJob(
        attempt: try reader.int(), number: try reader.int(), crashes: try reader.int(),
        crashMarks: try reader.int(), retryDelay: try reader.int64(), error: try reader.failure(),
        owner: try reader.uid())
    }
    guard var job = found else { return false }
    try job.apply(settlement, at: now)
    try noteLeftovers(settlement, to: job.state, at: now)
    try update(id, to: job, now: now)
    try end(settlement, number: job.number, timings: timings, now: now)
    try note(
      .state, job: id, of: job.owner, at: now, from: .running, to: job.state, reason: settlement.reason,
      error: job.newError)
    try noteHook(settlement, to: job.state, at: now)
    return true
  }

  private func update(_ id: JobID, to job: SettledJob, now: Date) throws {
    try db.run(
      """
      UPDATE job SET state = ?, bytes_done = ?, bytes_total = ?, attempt = ?, crashes = ?, crash_marks = ?, retry_at = ?,
        retry_delay = ?, finished_at = ?, resume_data = CASE WHEN ? THEN resume_data ELSE ? END,
        finishing_device = CASE WHEN ?12 THEN NULL ELSE finishing_device END,
        finishing_inode = CASE WHEN ?12 THEN NULL ELSE finishing_inode END,
        error_code = ?, error_message = ?, error_status = ?, error_transient = ?
      WHERE id = ?
      """
    ) { bind in
      bind(job.state.rawValue)
      bind(job.bytesDone)
      bind(job.bytesTotal)
      bind(job.attempt)
      bind(job.crashes)
      bind(job.crashMarks)
      bind(job.retryAt?.milliseconds)
      bind(job.retryDelay)
      bind(job.state.isFinal ? now.milliseconds : nil)
      bind(job.resumeData == .keep)
      if case .set(let data) = job.resumeData { bind(data) } else { bind.null() }
      bind(job.resumeData == .clear)
      bind(job.error)
      bind(id.rawValue)
    }
  }

  private func end(_ settlement: Settlement, number: Int, timings: String?, now: Date) throws {
    let end = settlement.attempt
    try db.run(
      """
      UPDATE attempt SET ended_at = ?, outcome = ?, resumed_from = ?, bytes_received = ?, http_status = ?,
        remote_address = ?, network_protocol = ?, timings = ?,
        error_code = ?, error_message = ?, error_status = ?, error_transient = ?
      WHERE job = ? AND number = ?
      """
    ) { bind in
      bind(end.isEndUnknown || settlement.crashed ? nil : now.milliseconds)
      bind(end.outcome?.rawValue)
      bind(end.resumedFrom)
      bind(end.bytesReceived)
      bind(end.httpStatus)
      bind(end.remoteAddress)
      bind(end.networkProtocol)
      bind(timings)
      bind(end.error)
      bind(settlement.id.rawValue)
      bind(number)
    }
  }
}

/// What a settlement makes of the columns that it touches.
private struct SettledJob {
  var state = JobState.running
  var attempt: Int
  let number: Int
  let owner: UInt32
  var crashes: Int
  var crashMarks: Int
  var retryDelay: Int64
  var retryAt: Date?
  var bytesDone: Int64 = 0
  var bytesTotal: Int64?
  /// `clear` forgets the `finishing` file too.
  var resumeData = Settlement.ResumeDataChange.keep
  var error: JobFailure?
  /// For the history: the error, where this settlement brought it.
  var newError: JobFailure?

  init(
    attempt: Int, number: Int, crashes: Int, crashMarks: Int, retryDelay: Int64, error: JobFailure?, owner: UInt32
  ) {
    self.attempt = attempt
    self.number = number
    self.crashes = crashes
    self.crashMarks = crashMarks
    self.retryDelay = retryDelay
    self.error = error
    self.owner = owner
  }

  mutating func apply(_ settlement: Settlement, at now: Date) throws(InvalidTransition) {
    state = try state.applying(settlement.event)
    if settlement.resetAttempts { attempt = 1 }
    if settlement.crashed || settlement.isUncounted { attempt = max(0, attempt.saturatingSum(-1)) }
    crashes = settlement.crashed ? crashes.saturatingSum(settlement.isMarked ? 0 : 1) : 0
    // An attempt that was cut off, or stopped to go on later, says nothing about what the daemon survives.
    if !settlement.crashed, !settlement.attempt.isEndUnknown, settlement.event != .requeue { crashMarks = 0 }
    bytesDone = settlement.bytesDone
    bytesTotal = settlement.bytesTotal
    resumeData = settlement.resumeData
    switch state {
    case .completed:
      bytesDone = bytesTotal ?? bytesDone
      resumeData = .clear
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
