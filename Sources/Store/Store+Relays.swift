import FoundationEssentials
import GRDB
public import TransferAPI

/// The space that an unfinished relay's copy has in the spool.
public struct RelayCopy: Equatable, Sendable {
  public var job: JobID
  /// The bytes that are on disk.
  public var bytes: Int64
  /// The length of the file; `nil` while unknown.
  public var total: Int64?

  public init(job: JobID, bytes: Int64, total: Int64?) { (self.job, self.bytes, self.total) = (job, bytes, total) }
}

extension Store {
  /// The relays that have a copy of their file in the spool, or a part of it.
  public func relayCopies() async throws(StoreError) -> [RelayCopy] {
    try await read { db in
      try db.rows(
        """
        SELECT id, bytes_done, bytes_total, phase FROM job INDEXED BY job_spool
        WHERE spool IS NOT NULL AND kind = 'relay' AND state <> 'completed' AND state <> 'cancelled'
          AND (phase = 'upload' OR bytes_done > 0 OR resume_data IS NOT NULL)
        ORDER BY id
        """
      ) { row in
        let phase: RelayPhase = try row.word("phase")
        let (done, total) = (try row.int64("bytes_done"), try row.optionalInt64("bytes_total"))
        return RelayCopy(job: try row.jobID("id"), bytes: phase == .upload ? total ?? 0 : done, total: total)
      }
    }
  }

  /// Makes the retries of jobs that wait for space on a disk due at once.
  /// - Returns: the number of these retries.
  public func makeDiskRetriesDue(at now: Date) async throws(StoreError) -> Int {
    try await makeNetworkRetriesDue(after: [.diskFull], at: now)
  }

  /// Makes relays look for room at once that wait for it with their downloads: those with the highest priority, and of
  /// these the ones that were added first.
  /// - Parameter limit: how many. Thousands may wait, and each that looks in vain is an attempt in the history.
  /// - Returns: the number of these retries.
  public func makeRelayRetriesDue(limit: Int, at now: Date) async throws(StoreError) -> Int {
    try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE job SET retry_at = :now WHERE id IN (
          SELECT id FROM job INDEXED BY job_postponed
          WHERE state = 'retrying' AND kind = 'relay' AND phase = 'download' AND error_code = :code AND retry_at > :now
          ORDER BY priority DESC, id LIMIT :limit)
        """
      ) { bind in
        bind("now", now)
        bind("code", JobFailure.Code.diskFull.rawValue)
        bind("limit", limit)
      }
      return transaction.db.changesCount
    }
  }
}

extension Transaction {
  /// Begins the upload of a relay whose copy is complete and durable. Counts attempts anew. Called when the row is `queued`.
  func beginUpload(of id: JobID) throws {
    try run(
      """
      UPDATE job SET phase = 'upload', origin_id = other_origin_id, other_origin_id = origin_id, attempt = 0,
        retry_delay = 0, failing_since = NULL, error_code = NULL, error_message = NULL, error_status = NULL,
        error_transient = NULL
      WHERE id = :id AND phase = 'download'
      """
    ) { $0("id", id) }
    try joinLine(id)
  }

  /// Makes a relay begin with its download again, because its copy is gone or of no use. Does nothing in its first phase, and
  /// for other jobs. What a server has of an unfinished upload must have been noted before.
  /// - Returns: whether the relay was in its second phase.
  @discardableResult
  func beginAgain(_ id: JobID) throws -> Bool {
    try run(
      """
      UPDATE job SET phase = 'download', origin_id = other_origin_id, other_origin_id = origin_id, resume_data = NULL,
        bytes_done = 0
      WHERE id = :id AND phase = 'upload'
      """
    ) { $0("id", id) }
    return db.changesCount == 1
  }

  /// Makes a relay whose copy could not be read begin again, when it is retried.
  /// - Returns: whether it does.
  func forgetsMissingCopy(of id: JobID, at now: Date) throws -> Bool {
    let code: String?? = try row("SELECT error_code FROM job WHERE id = :id AND phase = 'upload'", id: id.rawValue) {
      try $0.optionalText("error_code")
    }
    let codes = [JobFailure.Code.sourceMissing, .sourceChanged].map(\.rawValue)
    guard case .some(.some(let code)) = code, codes.contains(code) else { return false }
    try noteRemoteCleanup(of: id, ledger: nil, at: now)
    return try beginAgain(id)
  }

  /// What a remote cleanup has to know of a relay: the upload that it was. The secrets are the target's alone.
  /// - Returns: the row of the cleanup; `nil`: the job is no relay that uploads.
  func noteRelayCleanup(of id: JobID, ledger: Data?, at now: Date) throws -> Bool {
    guard let record = try JobRecord.fetch(db, id: id, in: .everything), record.spec.relay != nil else { return false }
    guard record.spec.transferKind == .upload, record.job.state != .completed,
      let ledger = ledger ?? record.resumeData
    else { return true }
    let (open, secrets) = record.spec.leg(copy: record.spec.spool ?? "").split()
    let options = try OptionText.text(of: open.options)
    try run(
      """
      INSERT INTO remote_cleanup (job, source, destination, origin, owner, options, ledger, created_at, next_at)
      VALUES (:job, :source, :destination, :origin, :owner, :options, :ledger, :now, :now)
      """
    ) { bind in
      bind("job", id)
      bind("source", open.source)
      bind("destination", open.destination)
      bind("origin", open.origin)
      bind("owner", open.owner)
      bind("options", options)
      bind("ledger", ledger)
      bind("now", now)
    }
    guard let secrets else { return true }
    try setSecretPlace(in: .remoteCleanup, db.lastInsertedRowID, try keep(secrets.encoded()))
    return true
  }
}
