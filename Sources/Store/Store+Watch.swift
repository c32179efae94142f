import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// What happened to the watched jobs since an event.
  public struct Watched: Sendable {
    public var sums: WatchSums
    /// Jobs that failed or were cancelled, and removed jobs of any batch; the oldest first.
    public var failures: [Event]
    /// The newest event that was examined.
    public var lastEvent: Int64
    /// Whether there are more failures.
    public var isPartial: Bool
  }

  /// Sums of all jobs in scope, or of a batch, and the failures since an event, in one consistent state. The cost does not grow
  /// with the number of jobs, but with the number of new events.
  /// - Parameter limit: the most failures.
  public func watched(
    batch: BatchID?, since: Int64, limit: Int, in scope: Scope
  ) async throws(StoreError) -> Watched {
    try await read { db in
      var sums: WatchSums
      if let batch {
        guard scope.includes(batch.owner) else { throw StoreError.noSuchBatch(batch.name) }
        sums = try Self.sums(of: batch, db)
      } else {
        let counts = try StateCounts.fetch(db, in: scope)
        sums = WatchSums(counts: counts, results: try JobResults.fetch(db, of: counts.completed, in: scope))
      }
      (sums.pendingActions, sums.failedActions) = try Self.actions(db, batch, scope)
      let found = try Self.failures(db, batch: batch, since: since, limit: limit, scope)
      let isPartial = found.count >= limit
      let newest = try db.lastID(in: "event")
      return Watched(
        sums: sums, failures: found, lastEvent: isPartial ? found.last?.seq ?? newest : newest, isPartial: isPartial)
    }
  }

  private static func sums(of batch: BatchID, _ db: Database) throws -> WatchSums {
    let sql = "SELECT bytes_done, bytes_total FROM batch WHERE name = :batch AND owner = :owner"
    let bytes = try db.row(sql) { bind in
      bind.batch(batch)
    } read: { row in
      (try row.sum("bytes_done"), try row.sum("bytes_total"))
    }
    let counts = try StateCounts.fetch(db, batch: batch)
    return WatchSums(
      counts: counts, results: try JobResults.fetch(db, of: counts.completed, batch: batch), bytesDone: bytes?.0,
      bytesTotal: bytes?.1)
  }

  /// A row stays in `file_action` until its action is done. A row without a time is an action that failed.
  private static func actions(_ db: Database, _ batch: BatchID?, _ scope: Scope) throws -> (pending: Int, failed: Int) {
    let owner = batch?.owner ?? scope.uid
    let conditions = [
      batch == nil ? nil : "job.batch = :batch", owner == nil ? nil : "job.owner = :owner",
    ].compactMap { $0 }
    let sql = """
      SELECT count(next_at) AS pending, count(*) AS total FROM file_action CROSS JOIN job ON job.id = file_action.job
      WHERE \(conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
      """
    return try db.row(sql) { bind in
      if let batch { bind("batch", batch.name) }
      if let owner { bind("owner", owner) }
    } read: { row in
      let pending = try row.int("pending")
      return (pending, max(0, try row.int("total").saturatingSum(-pending)))
    } ?? (0, 0)
  }

  private static func failures(
    _ db: Database, batch: BatchID?, since: Int64, limit: Int, _ scope: Scope
  ) throws -> [Event] {
    let ofOwner = batch?.owner ?? scope.uid
    let ofBatch =
      batch == nil
      ? "" : "AND (kind = 'removed' OR EXISTS (SELECT 1 FROM job WHERE job.id = event.job AND job.batch = :batch))"
    let sql = """
      SELECT seq, job, at, kind, from_state, to_state, reason, error_code, error_message, error_status,
        error_transient, result
      FROM event NOT INDEXED
      WHERE seq > :since AND (to_state = 'failed' OR to_state = 'cancelled' OR kind = 'removed')
        \(ofOwner == nil ? "" : "AND owner = :owner") \(ofBatch)
      ORDER BY seq LIMIT :limit
      """
    return try db.rows(sql) { bind in
      bind("since", since)
      if let ofOwner { bind("owner", ofOwner) }
      if let batch { bind("batch", batch.name) }
      bind("limit", limit)
    } read: {
      try Event(&$0)
    }
  }
}

extension StateCounts {
  fileprivate static func fetch(_ db: Database, in scope: Scope) throws -> StateCounts {
    switch scope {
    case .owner(let uid): try fetch(db, batch: BatchID(owner: uid, name: ""))
    case .everything: try fetchAll(db)
    }
  }
}
