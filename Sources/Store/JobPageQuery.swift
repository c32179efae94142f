import GRDB
import TransferAPI

/// A page of jobs, read by the index that fits.
///
/// Two indexes serve all pages: `job_owner_state` and `job_batch_state`. Each of them lists the jobs of one state in
/// the order of their ids. A page of several states or owners merges the first entries of each, so that its cost does
/// not grow with the queue's length.
struct JobPageQuery {
  private let state: JobState?
  private let batch: BatchID?
  private let after: JobID?
  private let limit: Int
  /// `nil`: all owners.
  private let owner: UInt32?

  /// `nil`: the batch is out of scope.
  init?(state: JobState? = nil, batch: BatchID? = nil, after: JobID? = nil, limit: Int, in scope: Scope) {
    if let batch, !scope.includes(batch.owner) { return nil }
    self.state = state
    self.batch = batch
    self.after = after
    self.limit = limit
    owner = batch?.owner ?? scope.uid
  }

  /// The ids of the page, in their order.
  func ids(_ db: Database) throws -> [JobID] {
    if let owner { return try ids(db, owner: owner) }
    guard state != nil else { return try db.rows(Self.ofAll, bindPage) { try $0.jobID("id") } }
    let owners = try db.jobOwners()
    guard owners.count != 1 else { return try ids(db, owner: owners[0]) }
    return Array(try owners.flatMap { try ids(db, owner: $0) }.sorted().prefix(limit))
  }

  private func ids(_ db: Database, owner: UInt32) throws -> [JobID] {
    try db.rows(sql) { bind in
      if let batch { bind("batch", batch.name) }
      bind("owner", owner)
      if let state { bind("state", state.rawValue) }
      bindPage(&bind)
    } read: {
      try $0.jobID("id")
    }
  }

  private func bindPage(_ bind: inout ParameterBinder) {
    bind("after", after?.rawValue ?? 0)
    bind("limit", limit)
  }

  private var sql: String {
    switch (batch, state) {
    case (nil, nil): Self.ofOwner
    case (nil, _?): Self.ofOwnerInState
    case (_?, nil): Self.ofBatch
    case (_?, _?): Self.ofBatchInState
    }
  }

  private static let ofAll = "SELECT id FROM job NOT INDEXED WHERE id > :after ORDER BY id LIMIT :limit"
  private static let ofOwner = merged { range(of: "job_owner_state", "owner = :owner", state: "'\($0.rawValue)'") }
  private static let ofOwnerInState = page(of: range(of: "job_owner_state", "owner = :owner", state: ":state"))
  private static let ofBatch = merged {
    range(of: "job_batch_state", "batch = :batch AND owner = :owner", state: "'\($0.rawValue)'")
  }
  private static let ofBatchInState = page(
    of: range(of: "job_batch_state", "batch = :batch AND owner = :owner", state: ":state"))

  private static func range(of index: String, _ condition: String, state: String) -> String {
    "SELECT id FROM job INDEXED BY \(index) WHERE \(condition) AND state = \(state) AND id > :after"
  }

  private static func page(of query: String) -> String { "\(query) ORDER BY id LIMIT :limit" }

  /// SQLite merges the parts of a compound SELECT with ORDER BY, and reads no more of each than it needs.
  private static func merged(_ range: (JobState) -> String) -> String {
    page(of: JobState.allCases.map(range).joined(separator: " UNION ALL "))
  }

  /// All statements by name, for a test of their plans.
  static var statements: [(name: String, sql: String)] {
    [
      ("all", ofAll), ("all of one user", ofOwner), ("state of one user", ofOwnerInState), ("batch", ofBatch),
      ("state of a batch", ofBatchInState),
    ]
  }
}

extension Database {
  /// The owners that have, or had, jobs.
  func jobOwners() throws -> [UInt32] {
    try rows("SELECT DISTINCT owner FROM state_count WHERE batch = '' ORDER BY owner") { try $0.uid("owner") }
  }
}
