import GRDB
public import TransferAPI

extension Store {
  /// Events with numbers above `since`, oldest first. Progress leaves no events here.
  /// - Parameters:
  ///   - jobs: only their events; `nil`: of all jobs in scope.
  ///   - limit: maximum number of events.
  public func events(
    since: Int64, jobs: Set<JobID>? = nil, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [Event] {
    try await read { db in
      let (index, ofJobs) =
        switch (jobs, scope) {
        case (nil, .everything): ("NOT INDEXED", "")
        case (nil, .owner): ("INDEXED BY event_owner", "")
        case (_?, _): ("INDEXED BY event_job", "job IN (SELECT value FROM json_each(:jobs)) AND")
        }
      let ofOwner = scope == .everything ? "" : "owner = :owner AND"
      let sql = """
        SELECT seq, job, at, kind, from_state, to_state, reason,
          error_code, error_message, error_status, error_transient, result
        FROM event \(index) WHERE \(ofJobs) \(ofOwner) seq > :since ORDER BY seq LIMIT :limit
        """
      return try db.rows(sql) { bind in
        if let jobs { bind("jobs", jsonArray(jobs.map(\.rawValue))) }
        if case .owner(let uid) = scope { bind("owner", uid) }
        bind("since", since)
        bind("limit", limit)
      } read: {
        try Event(&$0)
      }
    }
  }

  /// The number of the newest event in scope; 0 without events. In scope `everything` it never goes back: `prune` may delete
  /// rows, but not SQLite's own counter. https://sqlite.org/autoinc.html
  public func lastEvent(in scope: Scope) async throws(StoreError) -> Int64 {
    try await read { db in
      switch scope {
      case .everything: try db.lastID(in: "event")
      case .owner(let uid):
        try db.row("SELECT max(seq) AS seq FROM event INDEXED BY event_owner WHERE owner = :owner") { bind in
          bind("owner", uid)
        } read: {
          try $0.optionalInt64("seq") ?? 0
        } ?? 0
      }
    }
  }
}

extension Event {
  init(_ row: inout RowReader) throws {
    let seq = try row.int64("seq")
    row.subject = "event \(seq)"
    self.init(
      seq: seq, job: try row.jobID("job"), at: try row.date("at"), kind: try row.word("kind"),
      from: try row.optionalWord("from_state"), to: try row.optionalWord("to_state"),
      reason: try row.optionalText("reason"), error: try row.failure(), result: try row.optionalWord("result"))
  }
}
