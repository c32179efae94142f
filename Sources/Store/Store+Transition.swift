public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// Applies `pause`, `resume`, `cancel` or `retry` to jobs that are not running, all in one transaction. A job that is already
  /// in the wanted state does not change and leaves no event.
  ///
  /// `retry` counts attempts anew and forgets the error. It keeps the bytes on disk; a cancelled job has none. An upload whose
  /// outcome is unknown is sent again from its beginning. `cancel` forgets the resume data; the caller removes the part file.
  /// - Parameter scope: jobs out of scope do not exist, and no error names one.
  /// - Returns: for each id, in order, the state before; or `notFound`, `busy`, `invalid`, `destinationTaken`.
  public func transition(
    _ ids: [JobID], _ event: JobEvent, in scope: Scope, at now: Date, reason: String? = nil
  ) async -> [Result<JobState, StoreError>] {
    await each(ids) { id, transaction in
      try transaction.transition(id, event, in: scope, at: now, reason: reason)
    }
  }

  /// Deletes jobs and their attempts, in one transaction. Their events stay, and their ids are never used again. Unfinished
  /// uploads are queued for remote cleanup.
  /// - Returns: for each id, in order, success; or `notFound`, `busy`.
  public func remove(_ ids: [JobID], in scope: Scope, at now: Date) async -> [Result<Void, StoreError>] {
    await each(ids) { id, transaction in
      let job = try transaction.idleJob(id, in: scope)
      try transaction.noteRemoteCleanup(of: id, ledger: nil, at: now)
      try transaction.forgetFailedAction(of: id)
      try transaction.erase(transaction.secretPlace(in: .job, id.rawValue))
      if job.kind.mayUpload { try transaction.leaveLine(id) }
      try transaction.run("DELETE FROM job WHERE id = :id") { $0("id", id) }
      transaction.sums.replace(job.share, by: nil, owner: job.owner, batch: job.batch)
      try transaction.note(.removed, job: id, of: job.owner, at: now, from: job.share.state)
    }
  }

  /// One operation for many jobs. A refused job has changed nothing: checks come before writes.
  private func each<Value: Sendable>(
    _ ids: [JobID], _ body: @escaping @Sendable (JobID, inout Transaction) throws -> Value
  ) async -> [Result<Value, StoreError>] {
    let path = path
    do {
      return try await queue.run(weight: ids.count * 2) { transaction in
        try ids.map { id in
          do {
            return .success(try body(id, &transaction))
          } catch let error as StoreError {
            return .failure(error)
          } catch let error as InvalidTransition {
            return .failure(.invalid(error))
          }
        }
      }
    } catch {
      return ids.map { _ in .failure(StoreError(error, path: path)) }
    }
  }
}

/// What a verb has to know of a job that does not run.
private struct IdleJob {
  let kind: JobKind
  let owner: UInt32
  let batch: String?
  /// What the job adds to the sums.
  var share: StateSums.Share

  init(_ row: inout RowReader) throws {
    kind = try row.word("kind")
    owner = try row.uid("owner")
    batch = try row.optionalText("batch")
    share = StateSums.Share(
      state: try row.word("state"), bytesDone: try row.int64("bytes_done"),
      bytesTotal: try row.optionalInt64("bytes_total"), result: try row.optionalWord("result"))
  }
}

extension Transaction {
  /// - Throws: `notFound`, and `busy` if the job is running.
  fileprivate func idleJob(_ id: JobID, in scope: Scope) throws -> IdleJob {
    let found = try row(
      "SELECT kind, owner, batch, state, bytes_done, bytes_total, result FROM job WHERE id = :id", id: id.rawValue
    ) { try IdleJob(&$0) }
    guard let found, scope.includes(found.owner) else { throw StoreError.notFound(id) }
    guard found.share.state != .running else { throw StoreError.busy(id) }
    return found
  }

  fileprivate mutating func transition(
    _ id: JobID, _ event: JobEvent, in scope: Scope, at now: Date, reason: String?
  ) throws -> JobState {
    let job = try idleJob(id, in: scope)
    let before = job.share.state
    let after = try before.applying(event)
    if event == .retry { try forgetCrashMarks(of: id) }
    guard after != before else { return before }
    var error: JobFailure?
    var reason = reason
    var share = job.share
    share.state = after
    switch after {
    case .queued:
      if event == .retry {
        if try forgetsUnknownOutcome(of: id) {
          share.bytesDone = 0
          reason = [reason, "all of it is sent again, and the server may have it already"].compactMap { $0 }
            .joined(separator: "; ")
        }
        if job.kind == .relay, try forgetsMissingCopy(of: id, at: now) {
          share.bytesDone = 0
          reason = [reason, "it is downloaded again"].compactMap { $0 }.joined(separator: "; ")
        }
        try retry(id, from: before, in: scope, at: now)
      } else {
        try move(id, to: after)
      }
    case .paused: try move(id, to: after)
    case .cancelled:
      error = .cancelled(reason)
      share.bytesDone = 0
      try cancel(id, error: error, at: now)
      if job.kind.mayUpload { try leaveLine(id) }
      try beginAgain(id)
    case .running, .retrying, .completed, .failed:
      throw InvalidTransition(state: before, event: event)
    }
    sums.replace(job.share, by: share, owner: job.owner, batch: job.batch)
    try note(.state, job: id, of: job.owner, at: now, from: before, to: after, reason: reason, error: error)
    return before
  }

  private func move(_ id: JobID, to state: JobState) throws {
    try run("UPDATE job SET state = :state, retry_at = NULL, failing_since = NULL WHERE id = :id") { bind in
      bind("state", state.rawValue)
      bind("id", id)
    }
  }

  /// - Returns: whether the outcome of the upload was unknown.
  private func forgetsUnknownOutcome(of id: JobID) throws -> Bool {
    try run(
      """
      UPDATE job SET resume_data = NULL, bytes_done = 0 WHERE id = :id AND (kind = 'upload' OR phase = 'upload') AND error_code = :code
      """
    ) { bind in
      bind("id", id)
      bind("code", JobFailure.Code.outcomeUnknown.rawValue)
    }
    return db.changesCount == 1
  }

  /// A deadline that has passed no longer counts: the user asks for the job now.
  private func retry(_ id: JobID, from before: JobState, in scope: Scope, at now: Date) throws {
    if before.isFinal {
      try claimDestination(of: id, in: scope)
      try joinLine(id)
    }
    try run(
      """
      UPDATE job SET state = 'queued', attempt = 0, crashes = 0, retry_at = NULL, retry_delay = 0,
        failing_since = NULL, deadline = CASE WHEN deadline > :now THEN deadline END,
        finished_at = NULL, error_code = NULL, error_message = NULL, error_status = NULL,
        error_transient = NULL
      WHERE id = :id
      """
    ) { bind in
      bind("now", now)
      bind("id", id)
    }
  }

  /// Fails a job that does not run, because its deadline has passed or a job that it waits for has failed. Its bytes are kept.
  mutating func expire(_ id: JobID, error: JobFailure, at now: Date, wantsHook: Bool) throws {
    let job = try idleJob(id, in: .everything)
    var share = job.share
    share.state = try job.share.state.applying(.expire)
    try run(
      """
      UPDATE job SET state = 'failed', retry_at = NULL, finished_at = :now,
        waits_until = CASE WHEN :keeps_start THEN waits_until END, failing_since = NULL,
        error_code = :error_code, error_message = :error_message, error_status = :error_status,
        error_transient = :error_transient
      WHERE id = :id
      """
    ) { bind in
      bind("now", now)
      // After a retry it still counts.
      bind("keeps_start", error.code != .deadline)
      bind.failure(error)
      bind("id", id)
    }
    if job.kind.mayUpload { try leaveLine(id) }
    sums.replace(job.share, by: share, owner: job.owner, batch: job.batch)
    try note(
      .state, job: id, of: job.owner, at: now, from: job.share.state, to: share.state, reason: error.message,
      error: error)
    try noteHook(of: id, wantsHook, to: share.state, at: now)
  }

  private func cancel(_ id: JobID, error: JobFailure?, at now: Date) throws {
    try noteRemoteCleanup(of: id, ledger: nil, at: now)
    try run(
      """
      UPDATE job SET state = 'cancelled', bytes_done = 0, resume_data = NULL, finishing_device = NULL,
        finishing_inode = NULL, retry_at = NULL, finished_at = :now,
        error_code = :error_code, error_message = :error_message, error_status = :error_status,
        error_transient = :error_transient
      WHERE id = :id
      """
    ) { bind in
      bind("now", now)
      bind.failure(error)
      bind("id", id)
    }
  }

  private func claimDestination(of id: JobID, in scope: Scope) throws {
    let destination = try row(
      "SELECT destination FROM job WHERE id = :id AND kind = 'download' AND chooses_name = 0", id: id.rawValue
    ) { try $0.text("destination") }
    guard let destination, !destination.hasTrailingSlash else { return }
    try claimDestination(destination, for: id, in: scope)
  }
}
