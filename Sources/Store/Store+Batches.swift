import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// How many jobs are in each state. Every transaction keeps these sums: nothing is counted here.
  public func counts(in scope: Scope) async throws(StoreError) -> StateCounts {
    try await read { db in
      switch scope {
      case .owner(let uid): try StateCounts.fetch(db, batch: BatchID(owner: uid, name: ""))
      case .everything: try StateCounts.fetchAll(db)
      }
    }
  }

  /// Batches in the order of their names and owners, including batches whose jobs were all removed.
  /// - Parameters:
  ///   - after: the last batch of the page before; `nil`: the first page.
  ///   - limit: the most batches of a page.
  public func batches(
    after: BatchID? = nil, limit: Int = .max, in scope: Scope
  ) async throws(StoreError) -> [Batch] {
    try await read { db in
      var batches: [Batch] = []
      let (table, condition) =
        switch (scope, after) {
        case (.everything, nil): ("batch", "")
        case (.everything, _?): ("batch", "WHERE (batch.name, batch.owner) > (:name, :owner)")
        case (.owner, nil): ("batch INDEXED BY batch_owner", "WHERE batch.owner = :owner")
        case (.owner, _?): ("batch INDEXED BY batch_owner", "WHERE batch.owner = :owner AND batch.name > :name")
        }
      let sql = """
        SELECT batch.name, batch.owner, batch.created_at, state_count.state, state_count.jobs
        FROM \(table) CROSS JOIN state_count
          ON state_count.batch = batch.name AND state_count.owner = batch.owner
        \(condition) ORDER BY batch.name, batch.owner
        """
      try db.each(sql) { bind in
        if case .owner(let uid) = scope { bind("owner", uid) } else if let after { bind("owner", after.owner) }
        if let after { bind("name", after.name) }
      } body: { row in
        let name = try row.text("name")
        let owner = try row.uid("owner")
        let createdAt = try row.date("created_at")
        if batches.last?.name != name || batches.last?.owner != owner {
          guard batches.count < limit else { return false }
          batches.append(Batch(name: name, createdAt: createdAt, counts: StateCounts(), owner: owner))
        }
        batches[batches.count - 1].counts[try row.word("state")] = try row.int("jobs")
        return true
      }
      return batches
    }
  }

  /// `nil`: there is no such batch in scope. Bytes are exact below 9 PB.
  public func batch(_ id: BatchID, in scope: Scope) async throws(StoreError) -> BatchDetail? {
    guard scope.includes(id.owner) else { return nil }
    return try await read { db in
      let sql = "SELECT created_at, bytes_done, bytes_total FROM batch WHERE name = :batch AND owner = :owner"
      return try db.row(sql) { bind in
        bind.batch(id)
      } read: { row in
        let batch = Batch(
          name: id.name, createdAt: try row.date("created_at"), counts: try StateCounts.fetch(db, batch: id),
          owner: id.owner)
        let limits = try db.limits(of: id)
        var detail = BatchDetail(
          batch: batch, bytesDone: try row.sum("bytes_done"), bytesTotal: try row.sum("bytes_total"),
          failures: try Self.failures(db, batch: id),
          results: try JobResults.fetch(db, of: batch.counts.completed, batch: id))
        (detail.maxActive, detail.limitRate, detail.priority) = (limits?.maxActive, limits?.limitRate, limits?.priority)
        return detail
      }
    }
  }

  private static func failures(_ db: Database, batch: BatchID) throws -> [String: Int] {
    let sql = """
      SELECT error_code, count(*) AS jobs FROM job INDEXED BY job_batch_failed
      WHERE batch = :batch AND owner = :owner AND state = 'failed' GROUP BY error_code
      """
    var failures: [String: Int] = [:]
    try db.each(sql) { bind in
      bind.batch(batch)
    } body: { row in
      failures[try row.text("error_code")] = try row.int("jobs")
      return true
    }
    return failures
  }
}

extension StateCounts {
  /// - Parameter batch: an empty name stands for all jobs of the owner.
  static func fetch(_ db: Database, batch: BatchID) throws -> StateCounts {
    try fetch(db, "SELECT state, jobs FROM state_count WHERE batch = :batch AND owner = :owner") { $0.batch(batch) }
  }

  /// Of all owners.
  static func fetchAll(_ db: Database) throws -> StateCounts {
    try fetch(db, "SELECT state, jobs FROM state_count WHERE batch = ''") { _ in }
  }

  private static func fetch(
    _ db: Database, _ sql: String, _ bind: (inout ParameterBinder) -> Void
  ) throws -> StateCounts {
    var counts = StateCounts()
    try db.each(sql, bind) { row in
      counts[try row.word("state")] += try row.int("jobs")
      return true
    }
    return counts
  }
}

extension RowReader {
  /// A sum of bytes, kept as REAL.
  mutating func sum(_ name: StaticString) throws -> Int64 {
    Int64(exactly: (try optionalDouble(name) ?? 0).rounded()) ?? .max
  }
}
