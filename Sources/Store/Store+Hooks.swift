public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// The oldest pending hooks with ids above `after`.
  public func pendingHooks(after: Int64, limit: Int) async throws(StoreError) -> [PendingHook] {
    try await read { db in
      let sql = "SELECT id, job, owner, kind, payload FROM hook WHERE id > :after ORDER BY id LIMIT :limit"
      return try db.rows(sql) { bind in
        bind("after", after)
        bind("limit", limit)
      } read: { row in
        PendingHook(
          id: try row.int64("id"), job: try row.jobID("job"), owner: try row.uid("owner"), kind: try row.word("kind"),
          payload: try row.text("payload"))
      }
    }
  }

  /// Forgets a hook whose command has ended, successfully or not.
  /// - Parameter reason: for the job's history.
  public func settle(_ hook: PendingHook, reason: String, at now: Date) async throws(StoreError) {
    try await queue.run(weight: 2) { transaction in
      try transaction.run("DELETE FROM hook WHERE id = :id") { $0("id", hook.id) }
      guard transaction.db.changesCount == 1 else { return }
      let state: JobState? = try transaction.db.row("SELECT state FROM job WHERE id = :id", id: hook.job.rawValue) {
        try $0.word("state")
      }
      try transaction.note(.changed, job: hook.job, of: hook.owner, at: now, from: state, to: state, reason: reason)
    }
  }
}

extension Transaction {
  /// Stores a hook. Called after the row says that the job has ended: the payload is the row's content.
  mutating func noteHook(of id: JobID, _ wantsHook: Bool, to state: JobState, at now: Date) throws {
    let kind: PendingHook.Kind
    let event: DeliveryEvent
    let receivers: [String]
    switch state {
    case .completed: (kind, event, receivers) = (.complete, .jobCompleted, targets.jobCompleted)
    case .failed: (kind, event, receivers) = (.failure, .jobFailed, targets.jobFailed)
    case .queued, .running, .retrying, .paused, .cancelled: return
    }
    guard wantsHook || !receivers.isEmpty, let record = try JobRecord.fetch(db, id: id, in: .everything) else { return }
    if !receivers.isEmpty {
      let notice = String(decoding: try WireCoding.encoder().encode(JobNotice(event, record.job)), as: UTF8.self)
      for target in receivers { try deliver(event, about: "\(id)", notice, to: target, at: now) }
    }
    guard wantsHook else { return }
    let payload = String(decoding: try WireCoding.encoder().encode(record.job), as: UTF8.self)
    try run(
      """
      INSERT INTO hook (job, owner, kind, payload, created_at) VALUES (:job, :owner, :kind, :payload, :created_at)
      """
    ) { bind in
      bind("job", id)
      bind("owner", record.spec.owner)
      bind("kind", kind.rawValue)
      bind("payload", payload)
      bind("created_at", now)
    }
  }
}
