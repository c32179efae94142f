public import FoundationEssentials
import GRDB
import TransferAPI
import WireValues

extension Store {
  /// Adds jobs in their order, all in one transaction. A refused job does not keep the others out. A job whose key is stored
  /// already, or came earlier in `specs`, is not added again. The first job that names a batch creates it.
  /// - Parameters:
  ///   - scope: what the caller may see: an error names another job only if it is in scope, and a job can wait only for jobs in
  ///     it.
  ///   - closedWindows: jobs with one of these windows do not begin before it opens.
  /// - Returns: for each spec, in order, the durable job; or `destinationTaken`, `notFound`, `noSuchBatch`, `ambiguousBatch`,
  ///   `dependencyCycle`, `tooManyDependents`, `diskFull`, `io`.
  public func submit(
    _ specs: [JobSpec], in scope: Scope, at now: Date, closedWindows: ClosedWindows = [:]
  ) async -> [Result<Submission, StoreError>] {
    do {
      let path = path
      let rows = try NewRow.rows(specs)
      return try await queue.run(weight: specs.count) { transaction in
        var insertion = Insertion(now: now, scope: scope, closedWindows: closedWindows)
        let results: [Result<Submission, StoreError>] = try rows.map { row in
          do {
            return .success(try insertion.insert(row, &transaction))
          } catch let error as StoreError {
            return .failure(error)
          } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Only the row was refused. Any other error may have left half a job: the whole transaction is undone.
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

/// A job as it is stored: the content of its row, and its secrets.
struct NewRow: Sendable {
  /// As it was given: with secrets.
  var spec: JobSpec
  /// `spec.url` without secrets.
  let url: String
  let options: String?
  let secrets: Data?
  /// The job's own, or else its batch's.
  var priority: Int

  var source: String { spec.kind == .upload ? spec.source : url }
  var destination: String { spec.storedDestination }

  static func rows(_ specs: [JobSpec]) throws -> [NewRow] {
    // The jobs of a batch usually have the same options: these are split and made a text once.
    var last = JobOptions()
    var open: String?
    var optionSecrets = OptionSecrets()
    return try specs.map { spec in
      if spec.options != last {
        last = spec.options
        let split = last.withoutSecrets()
        open = try OptionText.text(of: split.open)
        optionSecrets = split.secrets
      }
      let url = JobSpec.split(url: spec.url)
      var secrets = JobSecrets()
      secrets.username = spec.credentials?.username
      secrets.password = spec.credentials?.password
      secrets.url = url.secret
      secrets.options = optionSecrets
      secrets.target = spec.targetSecrets
      return NewRow(
        spec: spec, url: url.open, options: open, secrets: secrets == JobSecrets() ? nil : try secrets.encoded(),
        priority: spec.priority)
    }
  }
}

/// Inserts rows into `job`, and remembers the origins and batches that it has seen.
struct Insertion {
  let now: Date
  let scope: Scope
  let closedWindows: ClosedWindows
  private var origins: [String: Int64] = [:]
  /// The batches that were seen, with their priorities.
  private var batches: [BatchID: Int?] = [:]
  private var secrets = SecretPack()
  private var tokens = RandomTokens()

  init(now: Date, scope: Scope, closedWindows: ClosedWindows) {
    self.now = now
    self.scope = scope
    self.closedWindows = closedWindows
  }

  mutating func finish(_ transaction: Transaction) throws { try secrets.flush(transaction) }

  mutating func insert(_ row: NewRow, _ transaction: inout Transaction) throws -> Submission {
    var row = row
    if row.spec.kind == .listing, row.spec.batch == nil {
      row.spec.batch = "listing-\(try transaction.nextJobID())"
    }
    let spec = row.spec
    if let listing = spec.listing, let existing = try transaction.listedJob(listing, row.destination) {
      return existing
    }
    if let key = spec.key, let existing = try Self.submission(key: key, owner: spec.owner, transaction) {
      return existing
    }
    // A refused job makes no batch.
    let dependencies = try transaction.dependencies(of: spec, in: scope)
    let origin = try originID(spec.origin, transaction)
    let otherOrigin = try spec.relay.map { try originID($0.otherOrigin, transaction) }
    if let batch = spec.batchID {
      if batches[batch] == nil {
        // A refused job makes no batch.
        try checkDestination(of: spec, transaction)
        try makeBatch(batch, transaction)
        batches.updateValue(try transaction.db.limits(of: batch)?.priority, forKey: batch)
      }
      if spec.priority == 0, let priority = batches[batch] ?? nil { row.priority = priority }
    }
    let state: JobState = spec.paused ? .paused : .queued
    let blocker = spec.replacesTarget ? try transaction.endOfLine(to: row.destination, of: spec.owner) : nil
    let place = try row.secrets.map { try secrets.place(for: $0, transaction) }
    do {
      try insertRow(
        row, state: state, origin: origin, otherOrigin, blockedBy: blocker, place, dependencies, transaction)
    } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
      // The index has refused the row: find out which job holds the destination.
      try checkDestination(of: spec, transaction)
      throw error
    }
    if let bytes = row.secrets { secrets.keep(bytes) }
    let id = JobID(transaction.db.lastInsertedRowID)
    try transaction.insert(dependencies, of: id)
    transaction.sums.replace(nil, by: .init(state: state), owner: spec.owner, batch: spec.batch)
    let reason = spec.options.network.insecure ? "insecure: the server's certificate is not checked" : nil
    try transaction.note(.added, job: id, of: spec.owner, at: now, to: state, reason: reason)
    return Submission(id: id, existing: false, state: state, blockedBy: blocker)
  }

  private func checkDestination(of spec: JobSpec, _ transaction: Transaction) throws {
    guard spec.kind == .download, !spec.destination.hasTrailingSlash, !spec.choosesName else { return }
    try transaction.claimDestination(spec.destination, for: nil, in: scope)
  }

  private mutating func insertRow(
    _ row: NewRow, state: JobState, origin: Int64, _ otherOrigin: Int64?, blockedBy: JobID?, _ place: SecretPlace?,
    _ dependencies: [StoredDependency], _ transaction: Transaction
  ) throws {
    let spec = row.spec
    let token = tokens.next()
    try transaction.run(
      """
      INSERT INTO job (owner, kind, state, source, destination, origin_id, options, batch, key, priority, spool,
        blocked_by, part_token, created_at, waits_until, deadline, chooses_name, listing, secret, secret_offset, secret_length,
        run_window, closed_until, open_dependencies, phase, other_origin_id)
      VALUES (:owner, :kind, :state, :source, :destination, :origin_id, :options, :batch, :key, :priority, :spool,
        :blocked_by, :part_token, :created_at, :waits_until, :deadline, :chooses_name, :listing,
        :secret, :secret_offset, :secret_length, :run_window, :closed_until, :open_dependencies, :phase, :other_origin_id)
      """
    ) { bind in
      bind("owner", spec.owner)
      bind("kind", spec.kind.rawValue)
      bind("state", state.rawValue)
      bind("source", row.source)
      bind("destination", row.destination)
      bind("origin_id", origin)
      bind("options", row.options)
      bind("batch", spec.batch)
      bind("key", spec.key)
      bind("priority", row.priority)
      bind("spool", spec.spool)
      bind("blocked_by", blockedBy)
      bind("part_token", token)
      bind("created_at", now)
      bind("waits_until", spec.options.schedule.notBefore.flatMap { $0 > now ? $0 : nil })
      bind("deadline", spec.options.schedule.deadline)
      bind("chooses_name", spec.choosesName)
      bind("listing", spec.listing)
      bind.secretPlace(place)
      bind("run_window", spec.options.schedule.window?.description)
      bind("closed_until", spec.options.schedule.window.flatMap { closedWindows[$0] })
      bind("open_dependencies", dependencies.count(where: \.isOpen))
      bind("phase", spec.relay?.phase.rawValue)
      bind("other_origin_id", otherOrigin)
    }
  }

  private static func submission(key: String, owner: UInt32, _ transaction: Transaction) throws -> Submission? {
    try transaction.row("SELECT id, state FROM job WHERE key = :key AND owner = :owner") { bind in
      bind("key", key)
      bind("owner", owner)
    } read: { row in
      Submission(id: try row.jobID("id"), existing: true, state: try row.word("state"))
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
      "INSERT INTO batch (name, owner, created_at) VALUES (:batch, :owner, :created_at) ON CONFLICT DO NOTHING"
    ) { bind in
      bind.batch(batch)
      bind("created_at", now)
    }
  }
}

extension Transaction {
  /// The row of an origin, which is created if it is missing.
  func originID(_ name: String, at now: Date) throws -> Int64 {
    if let id = try db.originID(name) { return id }
    try run("INSERT INTO origin (name, updated_at) VALUES (:name, :updated_at)") { bind in
      bind("name", name)
      bind("updated_at", now)
    }
    return db.lastInsertedRowID
  }
}

extension Database {
  /// The name of an origin; empty if there is none.
  func originName(_ id: Int64) throws -> String {
    try row("SELECT name FROM origin WHERE id = :id", id: id) { try $0.text("name") } ?? ""
  }

  /// The row of an origin; `nil`: there is none.
  func originID(_ name: String) throws -> Int64? {
    try row("SELECT id FROM origin WHERE name = :name") { bind in
      bind("name", name)
    } read: {
      try $0.int64("id")
    }
  }
}
