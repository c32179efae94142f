public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// Does what a person asks of jobs that are not running: `pause`, `resume`, `cancel` or `retry`, all in one
  /// transaction. Where the wish is fulfilled already (pausing what is paused), nothing changes and no event
  /// is left.
  ///
  /// `retry` counts tries anew and forgets the error; what is on disk is kept, but for a cancelled job, which
  /// has nothing there. An upload whose outcome is not known forgets that it was on its way, too: it is sent again. `cancel` forgets the resume data: the part file is the caller's to remove.
  /// - Parameter scope: a job outside does not exist, and no job outside is named in an error.
  /// - Returns: for each id, in order, the state before; or `notFound`, `busy`, `invalid`,
  ///   `destinationTaken`.
  public func transition(
    _ ids: [JobID], _ event: JobEvent, in scope: Scope, at now: Date, reason: String? = nil
  ) async -> [Result<JobState, StoreError>] {
    await each(ids) { id, transaction in
      try transaction.transition(id, event, in: scope, at: now, reason: reason)
    }
  }

  /// Deletes jobs and their attempts, in one transaction. Their events stay, and their ids are never used
  /// again. What a server holds of their uploads is remembered, to be taken back.
  /// - Returns: for each id, in order, success; or `notFound`, `busy`.
  public func remove(_ ids: [JobID], in scope: Scope, at now: Date) async -> [Result<Void, StoreError>] {
    await each(ids) { id, transaction in
      let (state, owner) = try transaction.idleState(of: id, in: scope)
      try transaction.noteAbandonment(of: id, ledger: nil, at: now)
      try transaction.forgetFailedAction(of: id)
      try transaction.erase(transaction.secretPlace(in: .job, id.rawValue))
      try transaction.run("DELETE FROM job WHERE id = ?", [id.rawValue])
      try transaction.note(.removed, job: id, of: owner, at: now, from: state)
    }
  }

  /// One operation for many jobs. A job that is refused has changed nothing: checks come before writes.
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

extension Transaction {
  /// - Throws: `notFound`, and `busy` where the job is running.
  fileprivate func idleState(of id: JobID, in scope: Scope) throws -> (state: JobState, owner: UInt32) {
    let found: (state: JobState, owner: UInt32)? = try db.row("SELECT state, owner FROM job WHERE id = ?") { bind in
      bind(id.rawValue)
    } read: { reader in
      (try reader.word(), try reader.uid())
    }
    guard let found, scope.includes(found.owner) else { throw StoreError.notFound(id) }
    guard found.state != .running else { throw StoreError.busy(id) }
    return found
  }

  fileprivate mutating func transition(
    _ id: JobID, _ event: JobEvent, in scope: Scope, at now: Date, reason: String?
  ) throws -> JobState {
    let (before, owner) = try idleState(of: id, in: scope)
    let after = try before.applying(event)
    if event == .retry { try forgetCrashMarks(of: id) }
    guard after != before else { return before }
    var error: JobFailure?
    var reason = reason
    switch after {
    case .queued:
      if event == .retry {
        if try forgetsUnknownOutcome(of: id) {
          reason = [reason, "all of it is sent again, and the server may have it already"].compactMap { $0 }
            .joined(separator: "; ")
        }
        try retry(id, from: before, in: scope)
      } else {
        try move(id, to: after)
      }
    case .paused: try move(id, to: after)
    case .cancelled:
      error = .cancelled(reason)
      try cancel(id, error: error, at: now)
    case .running, .retrying, .completed, .failed:
      throw InvalidTransition(state: before, event: event)
    }
    try note(.state, job: id, of: owner, at: now, from: before, to: after, reason: reason, error: error)
    return before
  }

  private func move(_ id: JobID, to state: JobState) throws {
    try run("UPDATE job SET state = ?, retry_at = NULL WHERE id = ?", [state.rawValue, id.rawValue])
  }

  /// - Returns: whether nobody knew how the upload had ended.
  private func forgetsUnknownOutcome(of id: JobID) throws -> Bool {
    try run(
      "UPDATE job SET resume_data = NULL, bytes_done = 0 WHERE id = ? AND kind = 'upload' AND error_code = ?",
      [id.rawValue, JobFailure.Code.outcomeUnknown.rawValue])
    return db.changesCount == 1
  }

  private func retry(_ id: JobID, from before: JobState, in scope: Scope) throws {
    if before.isFinal {
      try claimDestination(of: id, in: scope)
      try joinLine(id)
    }
    try run(
      """
      UPDATE job SET state = 'queued', attempt = 0, crashes = 0, retry_at = NULL, retry_delay = 0,
        finished_at = NULL, error_code = NULL, error_message = NULL, error_status = NULL,
        error_transient = NULL
      WHERE id = ?
      """, [id.rawValue])
  }

  private func cancel(_ id: JobID, error: JobFailure?, at now: Date) throws {
    try noteAbandonment(of: id, ledger: nil, at: now)
    try run(
      """
      UPDATE job SET state = 'cancelled', bytes_done = 0, resume_data = NULL, finishing_device = NULL,
        finishing_inode = NULL, retry_at = NULL, finished_at = ?,
        error_code = ?, error_message = ?, error_status = ?, error_transient = ?
      WHERE id = ?
      """, [now.milliseconds] + error.columns + [id.rawValue])
  }

  private func claimDestination(of id: JobID, in scope: Scope) throws {
    let statement = try db.cachedStatement(
      sql: "SELECT destination FROM job WHERE id = ? AND kind = 'download'")
    guard let destination = try String.fetchOne(statement, arguments: [id.rawValue]),
      !destination.hasSuffix("/")
    else { return }
    try claimDestination(destination, for: id, in: scope)
  }
}
