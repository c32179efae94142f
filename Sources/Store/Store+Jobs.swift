import GRDB
public import TransferAPI

extension Store {
  /// `nil` where there is no such job.
  public func job(_ id: JobID) async throws(StoreError) -> JobRecord? {
    try await read { db in try JobRecord.fetch(db, id: id) }
  }

  /// The job that was added with this key; `nil` where there is none.
  public func job(key: String) async throws(StoreError) -> JobRecord? {
    try await read { db in
      try db.row("SELECT \(JobRecord.columns) FROM job INDEXED BY job_key WHERE key = ?") { bind in
        bind(key)
      } read: {
        try JobRecord(&$0)
      }
    }
  }

  /// Those of `ids` that exist, in the order of `ids`.
  public func records(_ ids: [JobID]) async throws(StoreError) -> [JobRecord] {
    try await read { db in try ids.compactMap { id in try JobRecord.fetch(db, id: id) } }
  }

  /// A job and its tries: at most the 100 newest, newest last. `nil` where there is no such job.
  public func detail(_ id: JobID) async throws(StoreError) -> (record: JobRecord, attempts: [Attempt])? {
    try await read { db in
      guard let record = try JobRecord.fetch(db, id: id) else { return nil }
      return (record, try Attempt.fetchNewest(db, job: id, limit: 100))
    }
  }

  /// One page, ordered by id: jobs in `state` (`nil`: any) of `batch` (`nil`: any or none) with ids above
  /// `after`.
  public func jobs(
    state: JobState? = nil, batch: String? = nil, after: JobID? = nil, limit: Int
  ) async throws(StoreError) -> [JobRecord] {
    try await read { db in
      let page = JobPageQuery(state: state, batch: batch, after: after, limit: limit)
      return try db.rows("SELECT \(JobRecord.columns) \(page.sql)", page.bind) { try JobRecord(&$0) }
    }
  }

  /// One page of the ids that a selector means, ordered, above `after`. Ids and batches that do not exist
  /// give none.
  public func ids(
    matching selector: JobSelector, after: JobID? = nil, limit: Int
  ) async throws(StoreError) -> [JobID] {
    try await read { db in
      let query: JobPageQuery
      switch selector {
      case .ids(let ids):
        let wanted = Set(ids).filter { id in after.map { id > $0 } ?? true }.sorted()
        let stored = try wanted.lazy.filter { id in
          try db.row("SELECT 1 FROM job WHERE id = ?") { bind in
            bind(id.rawValue)
          } read: { _ in
            true
          } ?? false
        }
        return Array(stored.prefix(limit))
      case .batch(let name): query = JobPageQuery(batch: name, after: after, limit: limit)
      case .state(let state): query = JobPageQuery(state: state, after: after, limit: limit)
      case .all: query = JobPageQuery(after: after, limit: limit)
      }
      return try db.rows("SELECT id \(query.sql)", query.bind) { JobID(try $0.int64()) }
    }
  }

  /// The jobs that are running, or were when the daemon ended, ordered by id.
  public func running() async throws(StoreError) -> [JobRecord] {
    try await jobs(state: .running, limit: .max)
  }
}

/// A page of jobs by the index that fits.
struct JobPageQuery {
  var state: JobState?
  var batch: String?
  var after: JobID?
  var limit: Int

  var sql: String {
    let (index, condition) =
      switch (batch, state) {
      case (nil, nil): ("NOT INDEXED", "")
      case (nil, _): ("INDEXED BY job_state", "state = ? AND")
      case (_, nil): ("INDEXED BY job_batch", "batch = ? AND")
      case (_, _): ("INDEXED BY job_batch_state", "batch = ? AND state = ? AND")
      }
    return "FROM job \(index) WHERE \(condition) id > ? ORDER BY id LIMIT ?"
  }

  func bind(_ bind: inout Binder) {
    if let batch { bind(batch) }
    if let state { bind(state.rawValue) }
    bind(after?.rawValue ?? 0)
    bind(limit)
  }
}

extension JobRecord {
  static func fetch(_ db: Database, id: JobID) throws -> JobRecord? {
    try db.row("SELECT \(columns) FROM job WHERE id = ?") { bind in
      bind(id.rawValue)
    } read: {
      try JobRecord(&$0)
    }
  }
}

extension Attempt {
  static func fetchNewest(_ db: Database, job: JobID, limit: Int) throws -> [Attempt] {
    let sql = """
      SELECT number, started_at, ended_at, outcome, resumed_from, bytes_received, http_status,
        remote_address, network_protocol, timings, error_code, error_message, error_status, error_transient
      FROM attempt WHERE job = ? ORDER BY number DESC LIMIT ?
      """
    let attempts = try db.rows(sql) { bind in
      bind(job.rawValue)
      bind(limit)
    } read: { reader in
      reader.subject = "an attempt of job \(job)"
      return Attempt(
        number: try reader.int(), startedAt: try reader.date(), endedAt: try reader.optionalDate(),
        outcome: try reader.optionalWord(), resumedFrom: try reader.int64(),
        bytesReceived: try reader.int64(), httpStatus: try reader.optionalInt64().map(Int.init),
        remoteAddress: try reader.optionalText(), networkProtocol: try reader.optionalText(),
        timings: try reader.optionalJSON(), error: try reader.failure())
    }
    return attempts.reversed()
  }
}
