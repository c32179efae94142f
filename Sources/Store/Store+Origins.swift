public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// Stores the failures of an origin. 0 failures and `nil` forget them.
  public func blockOrigin(
    _ name: String, failures: Int, until: Date?, at now: Date
  ) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run(
        """
        INSERT INTO origin (name, failures, blocked_until, updated_at) 
        VALUES (:name, :failures, :blocked_until, :updated_at)
        ON CONFLICT (name) DO UPDATE SET failures = excluded.failures, blocked_until = excluded.blocked_until,
          updated_at = excluded.updated_at
        """
      ) { bind in
        bind("name", name)
        bind("failures", failures)
        bind("blocked_until", until)
        bind("updated_at", now)
      }
    }
  }

  /// The origins that have failures or are blocked, in the order of their names.
  public func origins() async throws(StoreError) -> [OriginState] {
    try await read { db in
      let sql = """
        SELECT name, failures, blocked_until, updated_at FROM origin INDEXED BY origin_troubled
        WHERE failures > 0 OR blocked_until IS NOT NULL ORDER BY name
        """
      return try db.rows(sql) { row in
        OriginState(
          name: try row.text("name"), failures: try row.int("failures"),
          blockedUntil: try row.optionalDate("blocked_until"), updatedAt: try row.date("updated_at"))
      }
    }
  }
}
