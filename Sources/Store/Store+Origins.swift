public import FoundationEssentials
import GRDB
import TransferAPI

/// What is remembered of a server that makes trouble.
public struct OriginState: Equatable, Sendable {
  /// Scheme, host and port.
  public var name: String
  /// Failures in a row.
  public var failures: Int
  /// No job of this origin begins before; `nil`: it is not blocked.
  public var blockedUntil: Date?
  /// When this was stored, so that a clock that was set back can be recognised.
  public var updatedAt: Date
}

extension Store {
  /// Remembers the failures of an origin. 0 failures and `nil` forget them.
  public func blockOrigin(
    _ name: String, failures: Int, until: Date?, at now: Date
  ) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run(
        """
        INSERT INTO origin (name, failures, blocked_until, updated_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET failures = excluded.failures, blocked_until = excluded.blocked_until,
          updated_at = excluded.updated_at
        """, [name, failures, until?.milliseconds, now.milliseconds])
    }
  }

  /// The origins that have failures or are blocked, in the order of their names.
  public func origins() async throws(StoreError) -> [OriginState] {
    try await read { db in
      let sql = """
        SELECT name, failures, blocked_until, updated_at FROM origin INDEXED BY origin_troubled
        WHERE failures > 0 OR blocked_until IS NOT NULL ORDER BY name
        """
      return try db.rows(sql) { reader in
        OriginState(
          name: try reader.text(), failures: try reader.int(), blockedUntil: try reader.optionalDate(),
          updatedAt: try reader.date())
      }
    }
  }
}
