public import FoundationEssentials
import GRDB
public import TransferAPI

/// A command that is to be told of a job's end.
public struct PendingHook: Equatable, Sendable {
  public enum Kind: String, Sendable {
    case complete, failure
  }

  public var id: Int64
  public var job: JobID
  /// The uid of the job's owner.
  public var owner: UInt32
  public var kind: Kind
  /// The job as it was when it ended, in JSON.
  public var payload: String
}

extension Store {
  /// The oldest ones above `after`.
  public func pendingHooks(after: Int64, limit: Int) async throws(StoreError) -> [PendingHook] {
    try await read { db in
      try db.rows("SELECT id, job, owner, kind, payload FROM hook WHERE id > ? ORDER BY id LIMIT ?") { bind in
        bind(after)
        bind(limit)
      } read: { reader in
        PendingHook(
          id: try reader.int64(), job: JobID(try reader.int64()), owner: try reader.uid(), kind: try reader.word(),
          payload: try reader.text())
      }
    }
  }

  /// The command has ended, however; the words go into the job's history.
  public func settle(_ hook: PendingHook, reason: String, at now: Date) async throws(StoreError) {
    try await queue.run(weight: 2) { transaction in
      try transaction.run("DELETE FROM hook WHERE id = ?", [hook.id])
      guard transaction.db.changesCount == 1 else { return }
      let statement = try transaction.db.cachedStatement(sql: "SELECT state FROM job WHERE id = ?")
      let state = try String.fetchOne(statement, arguments: [hook.job.rawValue]).flatMap(JobState.init(rawValue:))
      try transaction.note(.changed, job: hook.job, of: hook.owner, at: now, from: state, to: state, reason: reason)
    }
  }
}

extension Transaction {
  /// After the row says that the job has ended.
  func noteHook(_ settlement: Settlement, to state: JobState, at now: Date) throws {
    let kind: PendingHook.Kind
    switch state {
    case .completed: kind = .complete
    case .failed: kind = .failure
    case .queued, .running, .retrying, .paused, .cancelled: return
    }
    guard settlement.aftermath.wantsHook, let record = try JobRecord.fetch(db, id: settlement.id, in: .everything)
    else { return }
    let payload = String(decoding: try WireCoding.encoder().encode(record.job), as: UTF8.self)
    try run(
      "INSERT INTO hook (job, owner, kind, payload, created_at) VALUES (?, ?, ?, ?, ?)",
      [settlement.id.rawValue, Int64(record.spec.owner), kind.rawValue, payload, now.milliseconds])
  }
}
