import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// How many jobs are in each state; kept, not counted.
  public func counts(in scope: Scope) async throws(StoreError) -> StateCounts {
    try await read { db in
      switch scope {
      case .owner(let uid): try StateCounts.fetch(db, batch: BatchID(owner: uid, name: ""))
      case .everything: try StateCounts.fetchAll(db)
      }
    }
  }

  /// All batches, in the order of their names and owners; those whose jobs were all removed are among them.
  public func batches(in scope: Scope) async throws(StoreError) -> [Batch] {
    try await read { db in
      var batches: [Batch] = []
      let (table, condition) =
        switch scope {
        case .everything: ("batch", "")
        case .owner: ("batch INDEXED BY batch_owner", "WHERE batch.owner = ?")
        }
      let sql = """
        SELECT batch.name, batch.owner, batch.created_at, state_count.state, state_count.jobs
        FROM \(table) CROSS JOIN state_count
          ON state_count.batch = batch.name AND state_count.owner = batch.owner
        \(condition) ORDER BY batch.name, batch.owner
        """
      try db.each(sql) { bind in
        if case .owner(let uid) = scope { bind(Int64(uid)) }
      } body: { reader in
        let name = try reader.text()
        let owner = try reader.uid()
        let createdAt = try reader.date()
        if batches.last?.name != name || batches.last?.owner != owner {
          batches.append(Batch(name: name, createdAt: createdAt, counts: StateCounts(), owner: owner))
        }
        batches[batches.count - 1].counts[try reader.word()] = try reader.int()
        return true
      }
      return batches
    }
  }

  /// `nil` where there is no such batch in scope. Bytes are exact below 9 PB.
  public func batch(_ id: BatchID, in scope: Scope) async throws(StoreError) -> BatchDetail? {
    guard scope.includes(id.owner) else { return nil }
    return try await read { db in
      let sql = "SELECT created_at, bytes_done, bytes_total FROM batch WHERE name = ? AND owner = ?"
      return try db.row(sql) { bind in
        bind(id.name)
        bind(Int64(id.owner))
      } read: { reader in
        let batch = Batch(
          name: id.name, createdAt: try reader.date(), counts: try StateCounts.fetch(db, batch: id), owner: id.owner)
        return BatchDetail(
          batch: batch, bytesDone: try reader.sum(), bytesTotal: try reader.sum(),
          failures: try Self.failures(db, batch: id))
      }
    }
  }

  private static func failures(_ db: Database, batch: BatchID) throws -> [String: Int] {
    let sql = """
      SELECT error_code, count(*) FROM job INDEXED BY job_batch_failed
      WHERE batch = ? AND owner = ? AND state = 'failed' GROUP BY error_code
      """
    var failures: [String: Int] = [:]
    try db.each(sql) { bind in
      bind(batch.name)
      bind(Int64(batch.owner))
    } body: { reader in
      failures[try reader.text()] = try reader.int()
      return true
    }
    return failures
  }
}

extension StateCounts {
  /// - Parameter batch: with an empty name: all jobs of the owner.
  fileprivate static func fetch(_ db: Database, batch: BatchID) throws -> StateCounts {
    try fetch(db, "SELECT state, jobs FROM state_count WHERE batch = ? AND owner = ?") { bind in
      bind(batch.name)
      bind(Int64(batch.owner))
    }
  }

  /// Of all owners.
  fileprivate static func fetchAll(_ db: Database) throws -> StateCounts {
    try fetch(db, "SELECT state, jobs FROM state_count WHERE batch = ''") { _ in }
  }

  private static func fetch(
    _ db: Database, _ sql: String, _ bind: (inout Binder) -> Void
  ) throws -> StateCounts {
    var counts = StateCounts()
    try db.each(sql, bind) { reader in
      counts[try reader.word()] += try reader.int()
      return true
    }
    return counts
  }
}

extension RowReader {
  /// A sum of bytes, kept as REAL.
  fileprivate mutating func sum() throws -> Int64 {
    Int64(exactly: (try optionalDouble() ?? 0).rounded()) ?? .max
  }
}
