import GRDB

extension Store {
  /// Days whose bytes are kept.
  private static let keptDays = 32

  /// Body bytes received and sent on a day (`2026-11-23`, local time); 0 if nothing is stored.
  public func transferredBytes(on day: String) async throws(StoreError) -> Int64 {
    try await read { db in
      try db.row("SELECT bytes FROM transferred WHERE day = :day") { bind in
        bind("day", day)
      } read: {
        try $0.int64("bytes")
      } ?? 0
    }
  }

  /// Stores the bytes of a day. A smaller number than the stored one changes nothing.
  public func setTransferredBytes(_ bytes: Int64, on day: String) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run(
        """
        INSERT INTO transferred (day, bytes) VALUES (:day, :bytes)
        ON CONFLICT (day) DO UPDATE SET bytes = max(bytes, excluded.bytes)
        """
      ) { bind in
        bind("day", day)
        bind("bytes", bytes)
      }
      try transaction.run(
        "DELETE FROM transferred WHERE day NOT IN (SELECT day FROM transferred ORDER BY day DESC LIMIT :kept)"
      ) { $0("kept", Self.keptDays) }
    }
  }
}
