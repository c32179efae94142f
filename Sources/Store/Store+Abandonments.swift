public import FoundationEssentials
import GRDB
public import TransferAPI

/// An upload that nobody wants any more, of which a server may hold parts.
public struct Abandonment: Sendable {
  public var id: Int64
  public var job: JobID
  /// Enough of it to speak with the server.
  public var spec: JobSpec
  public var ledger: Data
  public var tries: Int
  public var createdAt: Date
}

extension Store {
  /// Those that are due, oldest first.
  public func dueAbandonments(now: Date, limit: Int) async throws(StoreError) -> [Abandonment] {
    try await read { db in
      let sql = """
        SELECT id, job, source, destination, origin, owner, options, ledger, tries, created_at,
          (SELECT substr(data, secret_offset + 1, secret_length) FROM secret WHERE secret.id = abandonment.secret)
        FROM abandonment INDEXED BY abandonment_due WHERE next_at <= ? ORDER BY next_at, id LIMIT ?
        """
      return try db.rows(sql) { bind in
        bind(now.milliseconds)
        bind(limit)
      } read: {
        try Abandonment(&$0)
      }
    }
  }

  /// It is done, or given up; the reason goes into the job's history.
  public func settle(_ abandonment: Abandonment, reason: String?, at now: Date) async throws(StoreError) {
    try await queue.run(weight: 2) { transaction in
      try transaction.erase(transaction.secretPlace(in: .abandonment, abandonment.id))
      try transaction.run("DELETE FROM abandonment WHERE id = ?", [abandonment.id])
      guard let reason, transaction.db.changesCount == 1 else { return }
      try transaction.note(.changed, job: abandonment.job, of: abandonment.spec.owner, at: now, reason: reason)
    }
  }

  public func postpone(_ abandonment: Abandonment, until: Date) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run(
        "UPDATE abandonment SET tries = tries + 1, next_at = ? WHERE id = ?", [until.milliseconds, abandonment.id])
    }
  }
}

extension Transaction {
  /// Keeps what is needed to take an upload back from its server. Nothing where there is no ledger.
  /// - Parameter ledger: `nil`: the row's.
  func noteAbandonment(of id: JobID, ledger: Data?, at now: Date) throws {
    try run(
      """
      INSERT INTO abandonment (job, source, destination, origin, owner, options, ledger, created_at, next_at)
      SELECT id, source, destination, (SELECT name FROM origin WHERE origin.id = origin_id), owner, options,
        COALESCE(?1, resume_data), ?2, ?2
      FROM job WHERE id = ?3 AND kind = 'upload' AND state <> 'completed' AND COALESCE(?1, resume_data) IS NOT NULL
      """, [ledger, now.milliseconds, id.rawValue])
    guard db.changesCount == 1 else { return }
    let abandonment = db.lastInsertedRowID
    // Its own copy: the job may go, or lead elsewhere, before the server has answered.
    guard let place = try secretPlace(in: .job, id.rawValue), let secrets = try secrets(at: place) else { return }
    try setSecretPlace(in: .abandonment, abandonment, try keep(secrets))
  }
}

extension Abandonment {
  fileprivate init(_ reader: inout RowReader) throws {
    id = try reader.int64()
    reader.subject = "abandonment \(id)"
    job = JobID(try reader.int64())
    let source = try reader.text()
    let destination = try reader.text()
    let origin = try reader.text()
    spec = JobSpec(owner: try reader.uid(), uploading: source, to: destination, origin: origin)
    if let options: JobOptions = try reader.optionalJSON() { options.fill(&spec) }
    guard let ledger = try reader.optionalData() else {
      throw StoreError.io("abandonment \(id) has no ledger")
    }
    self.ledger = ledger
    tries = try reader.int()
    createdAt = try reader.date()
    try reader.secrets()?.fill(&spec)
  }
}
