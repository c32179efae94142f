public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

/// A job that might be claimed now.
public struct Candidate: Equatable, Sendable {
  public var id: JobID
  public var origin: String
  public var priority: Int
}

extension Store {
  /// Jobs that may begin: queued ones, and retrying ones that are due; highest priority first, then in the
  /// order they were added. Nothing is changed or reserved, but for retries that a clock set back would delay
  /// by more than their own wait: those are planned anew from `now`.
  ///
  /// Fast in a queue of any length, also where a few excluded origins have most of the jobs.
  public func candidates(
    now: Date, excludingOrigins: Set<String>, limit: Int
  ) async throws(StoreError) -> [Candidate] {
    try await replanRetries(now: now)
    return try await read { db in
      let selection = try CandidateSelection(db, excluding: excludingOrigins, limit: limit)
      return try selection.candidates(now: now)
    }
  }

  /// Makes jobs running: attempt and fence grow, a row for the attempt begins. Those that are neither queued
  /// nor retrying any more, or are gone, are left out. Whether a retry is due is the caller's to know.
  /// - Returns: the claimed jobs as they are now, in the order of `ids`.
  public func claim(_ ids: [JobID], at now: Date) async throws(StoreError) -> [JobRecord] {
    try await queue.run(weight: ids.count * 2) { transaction in
      try ids.compactMap { id in try transaction.claim(id, at: now) }
    }
  }

  /// A retry that was planned later than now tells that the clock was set back: its wait begins now.
  private func replanRetries(now: Date) async throws(StoreError) {
    let isSetBack = try await read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT 1 FROM job INDEXED BY job_postponed
          WHERE state = 'retrying' AND retry_at - retry_delay > ? LIMIT 1
          """)
      return try Int64.fetchOne(statement, arguments: [now.milliseconds]) != nil
    }
    guard isSetBack else { return }
    try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE job INDEXED BY job_postponed SET retry_at = ?1 + retry_delay
        WHERE state = 'retrying' AND retry_at - retry_delay > ?1
        """, [now.milliseconds])
    }
  }
}

extension Transaction {
  mutating func claim(_ id: JobID, at now: Date) throws -> JobRecord? {
    guard var record = try JobRecord.fetch(db, id: id, in: .everything), record.follows == nil else { return nil }
    let before = record.job.state
    guard let state = try? before.applying(.claim) else { return nil }
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
    try db.run(
      """
      UPDATE job SET state = ?, attempt = ?, attempt_number = ?, fence = ?, retry_at = NULL, started_at = ?
      WHERE id = ?
      """
    ) { bind in
      bind(state.rawValue)
      bind(record.job.attempt)
      bind(record.attemptNumber)
      bind(record.fence)
      bind(record.job.startedAt?.milliseconds)
      bind(id.rawValue)
    }
    try db.run("INSERT INTO attempt (job, number, started_at) VALUES (?, ?, ?)") { bind in
      bind(id.rawValue)
      bind(record.attemptNumber)
      bind(now.milliseconds)
    }
    try note(.state, job: id, of: record.spec.owner, at: now, from: before, to: state)
    return record
  }
}
