import GRDB
public import TransferAPI

extension Store {
  /// `nil` where there is no such job in scope.
  public func job(_ id: JobID, in scope: Scope) async throws(StoreError) -> JobRecord? {
    try await read { db in try JobRecord.fetch(db, id: id, in: scope) }
  }

  /// The job that this user added with this key, if any.
  public func job(key: String, owner: UInt32) async throws(StoreError) -> JobRecord? {
    try await read { db in
      let sql = "SELECT \(JobRecord.columns) FROM job INDEXED BY job_key WHERE key = ? AND owner = ?"
      return try db.row(sql) { bind in
        bind(key)
        bind(Int64(owner))
      } read: {
        try JobRecord(&$0)
      }
    }
  }

  /// Those of `ids` that exist in scope, in the order of `ids`.
  public func records(_ ids: [JobID], in scope: Scope) async throws(StoreError) -> [JobRecord] {
    try await read { db in try ids.compactMap { id in try JobRecord.fetch(db, id: id, in: scope) } }
  }

  /// A job and its tries: at most the 100 newest, newest last. `nil` where there is no such job in scope. The job that it
  /// follows is told only if that one is in scope too.
  public func detail(
    _ id: JobID, in scope: Scope
  ) async throws(StoreError) -> (record: JobRecord, attempts: [Attempt])? {
    try await read { db in
      guard var record = try JobRecord.fetch(db, id: id, in: scope) else { return nil }
      if let first = record.follows, try JobRecord.fetch(db, id: first, in: scope) == nil { record.follows = nil }
      return (record, try Attempt.fetchNewest(db, job: id, limit: 100))
    }
  }

  /// One page, ordered by id: jobs in scope, in `state` (`nil`: any) of `batch` (`nil`: any or none) with ids above
  /// `after`.
  public func jobs(
    state: JobState? = nil, batch: BatchID? = nil, after: JobID? = nil, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [JobRecord] {
    guard let page = JobPageQuery(state: state, batch: batch, after: after, limit: limit, in: scope) else { return [] }
    return try await read { db in
      try db.rows("SELECT \(JobRecord.columns) \(page.sql)", page.bind) { try JobRecord(&$0) }
    }
  }

  /// One page of the ids in scope that a selection means, ordered, above `after`. Ids and batches that do not exist
  /// give none.
  public func ids(
    matching selection: JobSelection, after: JobID? = nil, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [JobID] {
    let query: JobPageQuery?
    switch selection {
    case .ids(let ids): return try await existing(ids, after: after, limit: limit, in: scope)
    case .batch(let batch): query = JobPageQuery(batch: batch, after: after, limit: limit, in: scope)
    case .state(let state): query = JobPageQuery(state: state, after: after, limit: limit, in: scope)
    case .all: query = JobPageQuery(after: after, limit: limit, in: scope)
    }
    guard let query else { return [] }
    return try await read { db in
      try db.rows("SELECT id \(query.sql)", query.bind) { JobID(try $0.int64()) }
    }
  }

  private func existing(
    _ ids: [JobID], after: JobID?, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [JobID] {
    try await read { db in
      let wanted = Set(ids).filter { id in after.map { id > $0 } ?? true }.sorted()
      let stored = try wanted.lazy.filter { id in
        try db.row("SELECT owner FROM job WHERE id = ?") { bind in
          bind(id.rawValue)
        } read: { reader in
          scope.includes(try reader.uid())
        } ?? false
      }
      return Array(stored.prefix(limit))
    }
  }

  /// The jobs that are running, or were when the daemon ended, ordered by id.
  public func running() async throws(StoreError) -> [JobRecord] {
    try await jobs(state: .running, limit: .max, in: .everything)
  }
}

/// A page of jobs by the index that fits.
struct JobPageQuery {
  private let state: JobState?
  private let batch: BatchID?
  private let after: JobID?
  private let limit: Int
  /// `nil`: of all owners.
  private let owner: UInt32?

  /// `nil` for a batch out of scope.
  init?(state: JobState? = nil, batch: BatchID? = nil, after: JobID? = nil, limit: Int, in scope: Scope) {
    self.state = state
    self.batch = batch
    self.after = after
    self.limit = limit
    switch (batch, scope) {
    case (let batch?, _):
      guard scope.includes(batch.owner) else { return nil }
      owner = batch.owner
    case (nil, .owner(let uid)): owner = uid
    case (nil, .everything): owner = nil
    }
  }

  var sql: String {
    let index =
      switch (batch, owner, state) {
      case (nil, nil, nil): "NOT INDEXED"
      case (nil, nil, _?): "INDEXED BY job_state"
      case (nil, _?, nil): "INDEXED BY job_owner"
      case (nil, _?, _?): "INDEXED BY job_owner_state"
      case (_?, _, nil): "INDEXED BY job_batch"
      case (_?, _, _?): "INDEXED BY job_batch_state"
      }
    let conditions = [
      batch == nil ? "" : "batch = ? AND", owner == nil ? "" : "owner = ? AND", state == nil ? "" : "state = ? AND",
    ]
    return "FROM job \(index) WHERE \(conditions.joined(separator: " ")) id > ? ORDER BY id LIMIT ?"
  }

  func bind(_ bind: inout Binder) {
    if let batch { bind(batch.name) }
    if let owner { bind(Int64(owner)) }
    if let state { bind(state.rawValue) }
    bind(after?.rawValue ?? 0)
    bind(limit)
  }
}

extension JobRecord {
  /// `nil` where there is no such job in scope.
  static func fetch(_ db: Database, id: JobID, in scope: Scope) throws -> JobRecord? {
    let record = try db.row("SELECT \(columns) FROM job WHERE id = ?") { bind in
      bind(id.rawValue)
    } read: {
      try JobRecord(&$0)
    }
    return record.flatMap { scope.includes($0.spec.owner) ? $0 : nil }
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
