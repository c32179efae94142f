import GRDB
public import TransferAPI

extension Store {
  /// Events with numbers above `since`, oldest first, at most `limit`; of `jobs` only, or (`nil`) of all.
  /// Progress leaves no events here.
  public func events(since: Int64, jobs: Set<JobID>? = nil, limit: Int) async throws(StoreError) -> [Event] {
    try await read { db in
      let columns = """
        seq, job, at, kind, from_state, to_state, reason, \
        error_code, error_message, error_status, error_transient
        """
      guard let jobs else {
        return try db.rows("SELECT \(columns) FROM event WHERE seq > ? ORDER BY seq LIMIT ?") { bind in
          bind(since)
          bind(limit)
        } read: {
          try Event(&$0)
        }
      }
      let sql = """
        SELECT \(columns) FROM event INDEXED BY event_job
        WHERE job IN (SELECT value FROM json_each(?)) AND seq > ? ORDER BY seq LIMIT ?
        """
      return try db.rows(sql) { bind in
        bind("[\(jobs.map(\.description).joined(separator: ","))]")
        bind(since)
        bind(limit)
      } read: {
        try Event(&$0)
      }
    }
  }

  /// The number of the newest event there ever was; 0 where there was none. Never goes back: not the rows are asked, which
  /// `prune` may have deleted, but SQLite's own counter. sqlite.org/autoinc.html
  public func lastEvent() async throws(StoreError) -> Int64 {
    try await read { db in
      try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
    }
  }
}

extension Event {
  fileprivate init(_ reader: inout RowReader) throws {
    let seq = try reader.int64()
    reader.subject = "event \(seq)"
    self.init(
      seq: seq, job: JobID(try reader.int64()), at: try reader.date(), kind: try reader.word(),
      from: try reader.optionalWord(), to: try reader.optionalWord(), reason: try reader.optionalText(),
      error: try reader.failure())
  }
}
