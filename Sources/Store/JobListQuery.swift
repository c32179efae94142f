import GRDB
import TransferAPI

/// The ids of a list of jobs in any order, page by page. Ascending ids are read by `JobPageQuery`; the other orders pass over
/// the jobs that do not match, so that a whole list costs one pass (a pass for each priority).
struct JobListQuery {
  private let state: JobState?
  private let batch: BatchID?
  private let order: JobOrder
  private let scope: Scope

  init(state: JobState?, batch: BatchID?, order: JobOrder, in scope: Scope) {
    self.state = state
    self.batch = batch
    self.order = order
    self.scope = scope
  }

  /// - Returns: the ids of a page, and where the next one begins; `nil` if this is the last one.
  func page(
    _ db: Database, from cursor: JobListCursor?, limit: Int
  ) throws -> (ids: [JobID], next: JobListCursor?) {
    switch order {
    case .id:
      let query = JobPageQuery(state: state, batch: batch, after: cursor?.id, limit: limit, in: scope)
      guard let ids = try query?.ids(db) else { return ([], nil) }
      return (ids, ids.count < limit ? nil : ids.last.map { JobListCursor(after: $0) })
    case .newest:
      guard batch.map({ scope.includes($0.owner) }) ?? true else { return ([], nil) }
      let ids = try ids(db, "AND id < :after ORDER BY id DESC", after: cursor?.id ?? JobID(.max), nil, limit)
      return (ids, ids.count < limit ? nil : ids.last.map { JobListCursor(after: $0) })
    case .priority:
      guard batch.map({ scope.includes($0.owner) }) ?? true else { return ([], nil) }
      return try priorityPage(db, from: cursor, limit: limit)
    }
  }

  /// Jobs of one priority in the order of their ids, then those of the next lower one.
  private func priorityPage(
    _ db: Database, from cursor: JobListCursor?, limit: Int
  ) throws -> (ids: [JobID], next: JobListCursor?) {
    var all: [JobID] = []
    var after = cursor?.id
    var present = try cursor?.priority ?? priority(db, below: nil)
    while let priority = present {
      let rest = limit - all.count  // checked: at most the limit was read
      let found = try ids(
        db, "AND priority = :priority AND id > :after ORDER BY id", after: after ?? JobID(0), priority, rest)
      all += found
      if all.count == limit { return (all, JobListCursor(priority: priority, id: found.last ?? after)) }
      after = nil
      present = try self.priority(db, below: priority)
    }
    return (all, nil)
  }

  private func ids(
    _ db: Database, _ page: String, after: JobID, _ priority: Int?, _ limit: Int
  ) throws -> [JobID] {
    try db.rows("SELECT id FROM job NOT INDEXED WHERE \(condition) \(page) LIMIT :limit") { bind in
      bindCondition(&bind)
      if let priority { bind("priority", priority) }
      bind("after", after)
      bind("limit", limit)
    } read: {
      try $0.jobID("id")
    }
  }

  /// The highest priority of the jobs, or the highest one below another.
  private func priority(_ db: Database, below bound: Int?) throws -> Int? {
    let below = bound == nil ? "" : "AND priority < :bound"
    return try db.row("SELECT max(priority) AS priority FROM job NOT INDEXED WHERE \(condition) \(below)") { bind in
      bindCondition(&bind)
      if let bound { bind("bound", bound) }
    } read: {
      try $0.optionalInt("priority")
    } ?? nil
  }

  private var owner: UInt32? { batch?.owner ?? scope.uid }

  private var condition: String {
    let conditions = [
      batch == nil ? nil : "batch = :batch", owner == nil ? nil : "owner = :owner",
      state == nil ? nil : "state = :state",
    ].compactMap { $0 }
    return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
  }

  private func bindCondition(_ bind: inout ParameterBinder) {
    if let batch { bind("batch", batch.name) }
    if let owner { bind("owner", owner) }
    if let state { bind("state", state.rawValue) }
  }
}
