import FoundationEssentials
import GRDB
import TransferAPI

/// The writing connection inside a group's transaction, and the events that become true with its commit.
struct Transaction {
  let db: Database
  let path: String
  private let statements: StatementCache
  var events: [Event] = []
  /// Changes of the counters by state and of the sums of batches; written before the commit.
  var sums = StateSums()
  /// Secrets were erased. Their old bytes stay in the WAL and the file until the next complete checkpoint.
  var isErasing = false
  /// Who gets events.
  let targets: DeliveryTargets
  /// A batch may have ended.
  var hasBatchEnd = false
  /// How many events of a target were dropped, because too many wait.
  var droppedDeliveries: [String: Int] = [:]

  /// - Parameter statements: those of earlier transactions of the same connection.
  init(_ db: Database, path: String, targets: DeliveryTargets = .none, statements: StatementCache? = nil) {
    self.db = db
    self.path = path
    self.targets = targets
    self.statements = statements ?? StatementCache(db)
  }

  /// Executes a statement. Its parameters are bound by name.
  func run(_ sql: StaticString, _ bind: (inout ParameterBinder) -> Void = { _ in }) throws {
    try statements.statement(sql).run(bind)
  }

  /// The first row, as `read` returns it; `nil`: there is none.
  func row<Value>(
    _ sql: StaticString, _ bind: (inout ParameterBinder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> Value? {
    try statements.statement(sql).row(bind, read: read)
  }

  /// The row that `:id`, the only parameter, selects; `nil`: there is none.
  func row<Value>(_ sql: StaticString, id: Int64, read: (inout RowReader) throws -> Value) throws -> Value? {
    try statements.statement(sql).row(id: id, read: read)
  }

  /// Appends to the history of the job's owner. The history outlives the job.
  mutating func note(
    _ kind: Event.Kind, job: JobID, of owner: UInt32, at: Date, from: JobState? = nil, to: JobState? = nil,
    reason: String? = nil,
    error: JobFailure? = nil, result: JobResult? = nil
  ) throws {
    // Most events have no error and no result: five parameters less to bind.
    let isPlain = error == nil && result == nil
    let insert = try statements.statement(isPlain ? Self.insertEvent : Self.insertEventWithFacts)
    try insert.run { bind in
      bind("job", job)
      bind("owner", owner)
      bind("at", at)
      bind("kind", kind.rawValue)
      bind("from_state", from?.rawValue)
      bind("to_state", to?.rawValue)
      bind("reason", reason)
      guard !isPlain else { return }
      bind.failure(error)
      bind("result", result?.rawValue)
    }
    events.append(
      // The time as it is stored.
      Event(
        seq: db.lastInsertedRowID, job: job, at: Date(milliseconds: at.milliseconds), kind: kind, from: from, to: to,
        reason: reason,
        error: error, result: result))
  }

  private static let insertEvent: StaticString = """
    INSERT INTO event (job, owner, at, kind, from_state, to_state, reason)
    VALUES (:job, :owner, :at, :kind, :from_state, :to_state, :reason)
    """

  private static let insertEventWithFacts: StaticString = """
    INSERT INTO event (job, owner, at, kind, from_state, to_state, reason,
      error_code, error_message, error_status, error_transient, result)
    VALUES (:job, :owner, :at, :kind, :from_state, :to_state, :reason,
      :error_code, :error_message, :error_status, :error_transient, :result)
    """

  /// The unfinished download that writes to `path`, other than `job`, and its owner.
  private func holder(of destination: String, except job: JobID?) throws -> (id: JobID, owner: UInt32)? {
    try row(
      """
      SELECT id, owner FROM job INDEXED BY job_destination
      WHERE destination = :destination AND kind = 'download' AND finished_at IS NULL AND chooses_name = 0
        AND substr(destination, -1) <> '/' AND id <> :except
      """
    ) { bind in
      bind("destination", destination)
      bind("except", job?.rawValue ?? 0)
    } read: { row in
      (try row.jobID("id"), try row.uid("owner"))
    }
  }

  /// - Throws: `destinationTaken`, which names the other job only if it is in scope.
  func claimDestination(_ destination: String, for job: JobID?, in scope: Scope) throws {
    if let holder = try holder(of: destination, except: job) {
      throw StoreError.destinationTaken(path: destination, by: scope.includes(holder.owner) ? holder.id : nil)
    }
  }
}
