import GRDB
public import TransferAPI

extension Store {
  /// Events with numbers above `since`, oldest first, at most `limit`; of `jobs` only, or (`nil`) of all in scope.
  /// Progress leaves no events here.
  public func events(
    since: Int64, jobs: Set<JobID>? = nil, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [Event] {
    try await read { db in
      let (index, ofJobs) =
        switch (jobs, scope) {
        case (nil, .everything): ("NOT INDEXED", "")
        case (nil, .owner): ("INDEXED BY event_owner", "")
        case (_?, _): ("INDEXED BY event_job", "job IN (SELECT value FROM json_each(?)) AND")
        }
      let ofOwner = scope == .everything ? "" : "owner = ? AND"
      let sql = """
        SELECT seq, job, at, kind, from_state, to_state, reason,
          error_code, error_message, error_status, error_transient
        FROM event \(index) WHERE \(ofJobs) \(ofOwner) seq > ? ORDER BY seq LIMIT ?
        """
      return try db.rows(sql) { bind in
        if let jobs { bind("[\(jobs.map(\.description).joined(separator: ","))]") }
        if case .owner(let uid) = scope { bind(Int64(uid)) }
        bind(since)
        bind(limit)
      } read: {
        try Event(&$0)
      }
    }
  }

  /// The number of the newest event in scope; 0 without events. Of everything it never goes back: the rows may have been
  /// deleted by `prune`, SQLite's own counter is not. https://sqlite.org/autoinc.html
  public func lastEvent(in scope: Scope) async throws(StoreError) -> Int64 {
    try await read { db in
      switch scope {
      case .everything: try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
      case .owner(let uid):
        try Int64.fetchOne(
          db, sql: "SELECT max(seq) FROM event INDEXED BY event_owner WHERE owner = ?", arguments: [Int64(uid)]) ?? 0
      }
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
