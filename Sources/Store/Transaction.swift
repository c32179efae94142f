import FoundationEssentials
import GRDB
import TransferAPI

/// What an operation works on: the writing connection inside the group's transaction, and the events that the
/// commit will make true.
struct Transaction {
  let db: Database
  let path: String
  var events: [Event] = []
  /// Secrets were erased, whose old bytes stand in the WAL and the file until the next whole checkpoint.
  var isErasing = false

  init(_ db: Database, path: String) {
    self.db = db
    self.path = path
  }

  /// - Parameter arguments: one for each `?`; not checked, for speed. A statement that failed once is not in
  ///   GRDB's cache any more, so binding to a cached one cannot fail.
  func run(_ sql: String, _ arguments: StatementArguments) throws {
    let statement = try db.cachedStatement(sql: sql)
    statement.setUncheckedArguments(arguments)
    try statement.execute()
  }

  /// Appends to the history, which outlives the job, of its owner.
  mutating func note(
    _ kind: Event.Kind, job: JobID, of owner: UInt32, at: Date, from: JobState? = nil, to: JobState? = nil,
    reason: String? = nil,
    error: JobFailure? = nil
  ) throws {
    // Most events tell no error: four columns less to bind.
    let sql =
      error == nil
      ? "INSERT INTO event (job, owner, at, kind, from_state, to_state, reason) VALUES (?, ?, ?, ?, ?, ?, ?)"
      : """
      INSERT INTO event (job, owner, at, kind, from_state, to_state, reason,
        error_code, error_message, error_status, error_transient)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    try db.run(sql) { bind in
      bind(job.rawValue)
      bind(Int64(owner))
      bind(at.milliseconds)
      bind(kind.rawValue)
      bind(from?.rawValue)
      bind(to?.rawValue)
      bind(reason)
      if error != nil { bind(error) }
    }
    events.append(
      Event(
        seq: db.lastInsertedRowID, job: job, at: at, kind: kind, from: from, to: to, reason: reason,
        error: error))
  }

  /// The unfinished download that writes to `path`, other than `job`, and its owner.
  private func holder(of destination: String, except job: JobID?) throws -> (id: JobID, owner: UInt32)? {
    let sql = """
      SELECT id, owner FROM job INDEXED BY job_destination
      WHERE destination = ? AND kind = 'download'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused')
        AND substr(destination, -1) <> '/' AND id <> ?
      """
    return try db.row(sql) { bind in
      bind(destination)
      bind(job?.rawValue ?? 0)
    } read: { reader in
      (JobID(try reader.int64()), try reader.uid())
    }
  }

  /// - Throws: `destinationTaken`, which names the other job only if it is in scope.
  func claimDestination(_ destination: String, for job: JobID?, in scope: Scope) throws {
    if let holder = try holder(of: destination, except: job) {
      throw StoreError.destinationTaken(path: destination, by: scope.includes(holder.owner) ? holder.id : nil)
    }
  }
}
