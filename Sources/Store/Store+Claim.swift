public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// Jobs that may begin: queued ones, and retrying ones that are due; highest priority first, then in the order in which they
  /// were added. Nothing is changed or reserved, with one exception: retries that a clock set back would delay by more than
  /// their own wait are planned anew from `now`.
  ///
  /// Fast in a queue of any length, even if a few excluded origins or batches have most of the jobs.
  /// - Parameter cursor: where the last search stopped (`CandidatePage.cursor`).
  public func candidatePage(
    now: Date, excludingOrigins: Set<String>, excludingBatches: Set<BatchID> = [], from cursor: String? = nil,
    limit: Int
  ) async throws(StoreError) -> CandidatePage {
    try await replanRetries(now: now)
    return try await read { db in
      try CandidateSelection(
        db, excluding: excludingOrigins, batches: excludingBatches, cursor: cursor, limit: limit
      ).page(now: now)
    }
  }

  public func candidates(
    now: Date, excludingOrigins: Set<String>, excludingBatches: Set<BatchID> = [], limit: Int
  ) async throws(StoreError) -> [Candidate] {
    try await candidatePage(
      now: now, excludingOrigins: excludingOrigins, excludingBatches: excludingBatches, limit: limit
    ).candidates
  }

  /// Makes jobs running: attempt and fence grow. Jobs that are no longer queued or retrying, or are gone, are left out. The
  /// caller knows whether a retry is due. The attempt gets a row of its own when it ends; until then the job's row says when it
  /// began.
  /// - Returns: the claimed jobs as they are now, in the order of `ids`.
  public func claim(
    _ ids: [JobID], at now: Date, closedWindows: ClosedWindows = [:]
  ) async throws(StoreError) -> [JobRecord] {
    try await queue.run(weight: ids.count * 2) { transaction in
      try transaction.claim(ids, at: now, closedWindows)
    }
  }

  /// A retry that was planned later than now shows that the clock was set back: its wait begins now.
  private func replanRetries(now: Date) async throws(StoreError) {
    let isSetBack = try await read { db in
      let sql = """
        SELECT id FROM job INDEXED BY job_postponed
        WHERE state = 'retrying' AND retry_at - retry_delay > :now LIMIT 1
        """
      return try db.row(sql) { bind in
        bind("now", now)
      } read: {
        try $0.jobID("id")
      } != nil
    }
    guard isSetBack else { return }
    try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE job INDEXED BY job_postponed SET retry_at = :now + retry_delay
        WHERE state = 'retrying' AND retry_at - retry_delay > :now
        """
      ) { $0("now", now) }
    }
  }
}

extension Database {
  /// The share of a job (`ShareSelection`).
  func share(of id: Int64) throws -> BatchID? {
    try row("SELECT owner, batch FROM job WHERE id = :id") { bind in
      bind("id", id)
    } read: { row in
      BatchID(owner: try row.uid("owner"), name: try row.optionalText("batch") ?? "")
    }
  }
}

extension Transaction {
  mutating func claim(_ ids: [JobID], at now: Date, _ closedWindows: ClosedWindows) throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    let find = try PreparedStatement(db, JobRecord.byID)
    return try ids.compactMap { id in try claim(id, find, at: now, closedWindows) }
  }

  private mutating func claim(
    _ id: JobID, _ find: PreparedStatement, at now: Date, _ closedWindows: ClosedWindows
  ) throws -> JobRecord? {
    guard var record = try JobRecord.fetch(find, id: id), record.blockedBy == nil,
      record.waitsUntil == nil, record.closedUntil == nil, record.openDependencies == 0
    else { return nil }
    let before = record.job.state
    guard let state = try? before.applying(.claim) else { return nil }
    // Its window was closed after the search, or while the job ran.
    if let window = record.spec.options.schedule.window, let opening = closedWindows[window] {
      try close(id, until: opening)
      return nil
    }
    record.job.state = state
    guard let attempt = (CheckedNumber(record.job.attempt) + 1).int,
      let number = (CheckedNumber(record.attemptNumber) + 1).int,
      let fence = (CheckedNumber(record.fence) + 1).value
    else { throw RowReader.Unreadable(description: "job \(id) counts its attempts with impossible numbers") }
    record.job.attempt = attempt
    record.attemptNumber = number
    record.fence = fence
    record.job.retryAt = nil
    record.job.startedAt = record.job.startedAt ?? now
    if attempt != number { record.receivedBefore = try receivedBefore(by: id) }
    if record.spec.options.download.ifChanged {
      record.fileRecords = [record.finishingRecord, try fileRecord(of: record)].compactMap { $0 }
    }
    try run(
      """
      UPDATE job SET state = 'running', attempt = :attempt, attempt_number = :attempt_number, fence = :fence,
        retry_at = NULL, started_at = :started_at, attempt_started_at = :attempt_started_at
      WHERE id = :id
      """
    ) { bind in
      bind("attempt", record.job.attempt)
      bind("attempt_number", record.attemptNumber)
      bind("fence", record.fence)
      bind("started_at", record.job.startedAt)
      bind("attempt_started_at", now)
      bind("id", id)
    }
    sums.replace(
      .init(state: before, bytesDone: record.job.bytesDone, bytesTotal: record.job.bytesTotal),
      by: .init(state: state, bytesDone: record.job.bytesDone, bytesTotal: record.job.bytesTotal),
      owner: record.spec.owner, batch: record.spec.batch)
    try note(.state, job: id, of: record.spec.owner, at: now, from: before, to: state)
    return record
  }
}
