import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// How many jobs are in each state; kept, not counted.
  public func counts() async throws(StoreError) -> StateCounts {
    try await read { db in try StateCounts.fetch(db, batch: "") }
  }

  public func batchExists(_ name: String) async throws(StoreError) -> Bool {
    try await read { db in
      try Int64.fetchOne(db, sql: "SELECT 1 FROM batch WHERE name = ?", arguments: [name]) != nil
    }
  }

  /// All batches, in the order of their names; those whose jobs were all removed are among them.
  public func batches() async throws(StoreError) -> [Batch] {
    try await read { db in
      var batches: [Batch] = []
      let sql = """
        SELECT batch.name, batch.created_at, state_count.state, state_count.jobs
        FROM batch CROSS JOIN state_count ON state_count.batch = batch.name ORDER BY batch.name
        """
      try db.each(sql) { reader in
        let name = try reader.text()
        let createdAt = try reader.date()
        if batches.last?.name != name {
          batches.append(Batch(name: name, createdAt: createdAt, counts: StateCounts()))
        }
        batches[batches.count - 1].counts[try reader.word()] = try reader.int()
        return true
      }
      return batches
    }
  }

  /// `nil` where there is no such batch. Bytes are exact below 9 PB.
  public func batch(_ name: String) async throws(StoreError) -> BatchDetail? {
    try await read { db in
      try db.row("SELECT created_at, bytes_done, bytes_total FROM batch WHERE name = ?") { bind in
        bind(name)
      } read: { reader in
        let batch = Batch(
          name: name, createdAt: try reader.date(), counts: try StateCounts.fetch(db, batch: name))
        return BatchDetail(
          batch: batch, bytesDone: try reader.sum(), bytesTotal: try reader.sum(),
          failures: try Self.failures(db, batch: name))
      }
    }
  }

  private static func failures(_ db: Database, batch: String) throws -> [String: Int] {
    let sql = """
      SELECT error_code, count(*) FROM job INDEXED BY job_batch_failed
      WHERE batch = ? AND state = 'failed' GROUP BY error_code
      """
    var failures: [String: Int] = [:]
    try db.each(sql) { bind in
      bind(batch)
    } body: { reader in
      failures[try reader.text()] = try reader.int()
      return true
    }
    return failures
  }
}

extension StateCounts {
  fileprivate static func fetch(_ db: Database, batch: String) throws -> StateCounts {
    var counts = StateCounts()
    try db.each("SELECT state, jobs FROM state_count WHERE batch = ?") { bind in
      bind(batch)
    } body: { reader in
      counts[try reader.word()] = try reader.int()
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
