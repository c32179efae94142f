public import FoundationEssentials
import GRDB
public import TransferAPI

/// The answer to one added job.
public struct Submission: Equatable, Sendable {
  public var id: JobID
  /// The key was known: nothing was added, `id` is the job that has it.
  public var existing: Bool
  public var state: JobState
  /// The unfinished upload to the same URL that goes first. It may be another user's.
  public var follows: JobID?
  /// Whose that is.
  public var followsOwner: UInt32?

  public init(
    id: JobID, existing: Bool, state: JobState, follows: JobID? = nil, followsOwner: UInt32? = nil
  ) {
    self.id = id
    self.existing = existing
    self.state = state
    self.follows = follows
    self.followsOwner = followsOwner
  }
}

extension Store {
  /// Adds jobs, all in one transaction, in their order; one that is refused does not keep the others out.
  /// Jobs with a key that is stored already, or that came earlier in `specs`, are not added again. A batch is
  /// made by the first job that names it.
  /// - Parameter scope: what the caller may see: a job that holds a destination is named only if it is in there.
  /// - Returns: for each spec, in order, the job, durable; or `destinationTaken`, `diskFull`, `io`.
  public func submit(
    _ specs: [JobSpec], in scope: Scope, at now: Date
  ) async -> [Result<Submission, StoreError>] {
    do {
      let path = path
      let rows = try specs.map(NewRow.init)
      return try await queue.run(weight: specs.count) { transaction in
        var insertion = Insertion(now: now, scope: scope)
        let results: [Result<Submission, StoreError>] = try rows.map { row in
          do {
            return .success(try insertion.insert(row, &transaction))
          } catch let error as StoreError {
            return .failure(error)
          } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // The row itself was refused; any other error may have left half a job, so all of it is undone.
            return .failure(StoreError(error, path: path))
          }
        }
        try insertion.finish(transaction)
        return results
      }
    } catch {
      return specs.map { _ in .failure(StoreError(error, path: path)) }
    }
  }
}

/// A job as it is stored: what its row holds, and its secrets.
private struct NewRow: Sendable {
  let spec: JobSpec
  let options: String?
  let secrets: Data?

  init(_ spec: JobSpec) throws {
    let (open, secrets) = spec.split()
    self.spec = open
    options = try JobOptions.json(for: open)
    self.secrets = try secrets?.encoded()
  }
}

/// Puts rows into `job`; remembers the origins and batches that it has seen.
private struct Insertion {
  let now: Date
  let scope: Scope
  private var origins: [String: Int64] = [:]
  private var batches: Set<BatchID> = []
  private var secrets = SecretPack()

  init(now: Date, scope: Scope) {
    self.now = now
    self.scope = scope
  }

  mutating func finish(_ transaction: Transaction) throws { try secrets.flush(transaction) }

  mutating func insert(_ row: NewRow, _ transaction: inout Transaction) throws -> Submission {
    let spec = row.spec
    if let key = spec.key, let existing = try Self.submission(key: key, owner: spec.owner, transaction.db) {
      return existing
    }
    let origin = try originID(spec.origin, transaction)
    if let batch = spec.batch.map({ BatchID(owner: spec.owner, name: $0) }), !batches.contains(batch) {
      // A refused job makes no batch.
      try checkDestination(of: spec, transaction)
      try makeBatch(batch, transaction)
      batches.insert(batch)
    }
    let state: JobState = spec.paused ? .paused : .queued
    let follows = spec.replacesTarget ? try transaction.endOfLine(to: spec.destination) : nil
    let place = try row.secrets.map { try secrets.place(for: $0, transaction) }
    do {
      try insertRow(row, state: state, origin: origin, follows: follows?.id, place, transaction)
    } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
      // The index is asked by inserting; only a refusal is worth a second look.
      try checkDestination(of: spec, transaction)
      throw error
    }
    if let bytes = row.secrets { secrets.keep(bytes) }
    let id = JobID(transaction.db.lastInsertedRowID)
    try transaction.note(.added, job: id, of: spec.owner, at: now, to: state)
    return Submission(id: id, existing: false, state: state, follows: follows?.id, followsOwner: follows?.owner)
  }

  private func checkDestination(of spec: JobSpec, _ transaction: Transaction) throws {
    guard spec.kind == .download, !spec.destination.hasSuffix("/") else { return }
    try transaction.claimDestination(spec.destination, for: nil, in: scope)
  }

  private func insertRow(
    _ row: NewRow, state: JobState, origin: Int64, follows: JobID?, _ place: SecretPlace?, _ transaction: Transaction
  ) throws {
    let spec = row.spec
    try transaction.db.run(
      """
      INSERT INTO job (kind, state, source, destination, origin_id, replace,
        create_directories, name_from_response, checksum, options, batch, key, priority, limit_rate,
        max_attempts, connect_timeout, stall_timeout, part_token, created_at, follows, spool, owner, secret, secret_offset,
        secret_length)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ) { bind in
      bind(spec.kind.rawValue)
      bind(state.rawValue)
      bind(spec.source)
      bind(spec.destination)
      bind(origin)
      bind(spec.replace)
      bind(spec.createDirectories)
      bind(spec.nameFromResponse)
      bind(spec.checksum)
      bind(row.options)
      bind(spec.batch)
      bind(spec.key)
      bind(spec.priority)
      bind(spec.limitRate)
      bind(spec.maxAttempts)
      bind(spec.connectTimeout)
      bind(spec.stallTimeout)
      bind(randomToken())
      bind(now.milliseconds)
      bind(follows?.rawValue)
      bind(spec.spool)
      bind(Int64(spec.owner))
      bind(place)
    }
  }

  private static func submission(key: String, owner: UInt32, _ db: Database) throws -> Submission? {
    try db.row("SELECT id, state FROM job WHERE key = ? AND owner = ?") { bind in
      bind(key)
      bind(Int64(owner))
    } read: { reader in
      Submission(id: JobID(try reader.int64()), existing: true, state: try reader.word())
    }
  }

  private mutating func originID(_ name: String, _ transaction: Transaction) throws -> Int64 {
    if let id = origins[name] { return id }
    let id = try transaction.originID(name, at: now)
    origins[name] = id
    return id
  }

  private func makeBatch(_ batch: BatchID, _ transaction: Transaction) throws {
    try transaction.run(
      "INSERT INTO batch (name, owner, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      [batch.name, Int64(batch.owner), now.milliseconds])
  }
}

extension Transaction {
  /// The row of an origin, made where it is missing.
  func originID(_ name: String, at now: Date) throws -> Int64 {
    try run(
      "INSERT INTO origin (name, updated_at) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, now.milliseconds])
    let statement = try db.cachedStatement(sql: "SELECT id FROM origin WHERE name = ?")
    guard let id = try Int64.fetchOne(statement, arguments: [name]) else {
      throw StoreError.io("\(path): the origin \(name) was not stored")
    }
    return id
  }
}
