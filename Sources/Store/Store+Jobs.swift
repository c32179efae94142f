import GRDB
public import TransferAPI

extension Store {
  /// `nil`: there is no such job in scope.
  public func job(_ id: JobID, in scope: Scope) async throws(StoreError) -> JobRecord? {
    try await read { db in try JobRecord.fetch(db, id: id, in: scope) }
  }

  /// The jobs among `ids` that exist in scope, in the order of `ids`.
  public func records(_ ids: [JobID], in scope: Scope) async throws(StoreError) -> [JobRecord] {
    try await read { db in try JobRecord.fetch(db, ids, in: scope) }
  }

  /// What `value` makes of the jobs among `ids` that exist in scope, in the order of `ids`, without each `nil`. The
  /// records are not kept: those of many jobs need much memory.
  public func values<Value: Sendable>(
    of ids: [JobID], in scope: Scope, _ value: @escaping @Sendable (JobRecord) -> Value?
  ) async throws(StoreError) -> [Value] {
    try await read { db in
      let find = try PreparedStatement(db, JobRecord.byID)
      var values: [Value] = []
      for id in ids {
        guard let record = try JobRecord.fetch(find, id: id), scope.includes(record.spec.owner) else { continue }
        if let value = value(record) { values.append(value) }
      }
      return values
    }
  }

  /// The jobs among `ids` that exist in scope, in the order of `ids`, until their rows have at least so many bytes
  /// together.
  /// - Returns: also how many of the ids were looked at: 1 or more, unless there are none.
  public func records(
    _ ids: [JobID], upTo bytes: Int, in scope: Scope
  ) async throws(StoreError) -> (records: [JobRecord], count: Int) {
    try await read { db in
      let find = try PreparedStatement(db, JobRecord.byID)
      var (records, count, sum): ([JobRecord], Int, Int) = ([], 0, 0)
      for id in ids {
        count += 1
        let row = try find.row(id: id.rawValue) { row in
          (record: try JobRecord(&row), bytes: row.bytes)
        }
        guard let row, scope.includes(row.record.spec.owner) else { continue }
        records.append(row.record)
        sum += row.bytes
        guard sum < bytes else { break }
      }
      return (records, count)
    }
  }

  /// The jobs that this user added with these keys; keys without a job are left out. One call for all lines of a bulk add.
  public func jobs(keys: [String], owner: UInt32) async throws(StoreError) -> [String: JobRecord] {
    try await read { db in
      let find = try PreparedStatement(db, JobRecord.byKey)
      var found: [String: JobRecord] = [:]
      for key in keys where found[key] == nil {
        found[key] = try find.row { bind in
          bind("key", key)
          bind("owner", owner)
        } read: {
          try JobRecord(&$0)
        }
      }
      return found
    }
  }

  /// A job and its 100 newest attempts, the newest last. `nil`: there is no such job in scope. `blockedBy` is `nil` if that job
  /// is out of scope.
  public func detail(
    _ id: JobID, in scope: Scope
  ) async throws(StoreError) -> (record: JobRecord, attempts: [Attempt])? {
    try await read { db in
      guard var record = try JobRecord.fetch(db, id: id, in: scope) else { return nil }
      if let first = record.blockedBy, try JobRecord.fetch(db, id: first, in: scope) == nil { record.blockedBy = nil }
      return (record, try Attempt.fetchNewest(db, of: record, limit: 100))
    }
  }

  /// One page of the jobs in scope, ordered by id.
  /// - Parameters:
  ///   - state: `nil`: any.
  ///   - batch: `nil`: any or none.
  ///   - after: only jobs with ids above this one.
  func jobs(
    state: JobState? = nil, batch: BatchID? = nil, after: JobID? = nil, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [JobRecord] {
    guard let page = JobPageQuery(state: state, batch: batch, after: after, limit: limit, in: scope) else { return [] }
    return try await read { db in try JobRecord.fetch(db, page.ids(db), in: .everything) }
  }

  /// One page of the ids in scope that a selection names, ordered, above `after`. Ids and batches that do not exist are left
  /// out.
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
    return try await read { db in try query.ids(db) }
  }

  private func existing(
    _ ids: [JobID], after: JobID?, limit: Int, in scope: Scope
  ) async throws(StoreError) -> [JobID] {
    try await read { db in
      let wanted = Set(ids).filter { id in after.map { id > $0 } ?? true }.sorted()
      let find = try PreparedStatement(db, "SELECT owner FROM job WHERE id = :id")
      var found: [JobID] = []
      for id in wanted where found.count < limit {
        let owner = try find.row(id: id.rawValue) { try $0.uid("owner") }
        if let owner, scope.includes(owner) { found.append(id) }
      }
      return found
    }
  }

  /// The jobs that are running, or were when the daemon ended, ordered by id.
  public func running() async throws(StoreError) -> [JobRecord] {
    try await jobs(state: .running, limit: .max, in: .everything)
  }
}

extension JobRecord {
  static let byID = "SELECT \(columns) FROM job WHERE id = :id"
  static let byKey = "SELECT \(columns) FROM job INDEXED BY job_key WHERE key = :key AND owner = :owner"

  /// `nil`: there is no such job in scope.
  static func fetch(_ db: Database, id: JobID, in scope: Scope) throws -> JobRecord? {
    try fetch(PreparedStatement(db, byID), id: id).flatMap { scope.includes($0.spec.owner) ? $0 : nil }
  }

  /// The jobs among `ids` that exist in scope, in the order of `ids`.
  static func fetch(_ db: Database, _ ids: [JobID], in scope: Scope) throws -> [JobRecord] {
    let find = try PreparedStatement(db, byID)
    var records: [JobRecord] = []
    records.reserveCapacity(ids.count)
    for id in ids {
      if let record = try fetch(find, id: id), scope.includes(record.spec.owner) { records.append(record) }
    }
    return records
  }

  /// - Parameter find: `byID`.
  static func fetch(_ find: PreparedStatement, id: JobID) throws -> JobRecord? {
    try find.row(id: id.rawValue) { try JobRecord(&$0) }
  }
}

extension Attempt {
  /// The newest attempts of a job, the newest last. The attempt under way has no row yet: it is read from the job's
  /// row.
  static func fetchNewest(_ db: Database, of record: JobRecord, limit: Int) throws -> [Attempt] {
    let id = record.job.id
    let sql = """
      SELECT number, started_at, ended_at, outcome, resumed_from, bytes_received, http_status,
        remote_address, network_protocol, timings, error_code, error_message, error_status, error_transient
      FROM attempt WHERE job = :job ORDER BY number DESC LIMIT :limit
      """
    var attempts = try db.rows(sql) { bind in
      bind("job", id)
      bind("limit", limit)
    } read: { row in
      row.subject = "an attempt of job \(id)"
      return Attempt(
        number: try row.int("number"), startedAt: try row.date("started_at"), endedAt: try row.optionalDate("ended_at"),
        outcome: try row.optionalWord("outcome"), resumedFrom: try row.int64("resumed_from"),
        bytesReceived: try row.int64("bytes_received"), httpStatus: try row.optionalInt("http_status"),
        remoteAddress: try row.optionalText("remote_address"),
        networkProtocol: try row.optionalText("network_protocol"), timings: try row.optionalJSON("timings"),
        error: try row.failure())
    }
    attempts.reverse()
    guard record.job.state == .running else { return attempts }
    let startedAt = try db.row(
      "SELECT COALESCE(attempt_started_at, started_at) AS began FROM job WHERE id = :id", id: id.rawValue
    ) { try $0.date("began") }
    guard let startedAt else { return attempts }
    return attempts.suffix(limit - 1) + [Attempt(number: record.attemptNumber, startedAt: startedAt)]
  }
}
