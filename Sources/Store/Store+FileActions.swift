public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// File actions that are due, oldest first.
  public func dueFileActions(now: Date, limit: Int) async throws(StoreError) -> [PendingFileAction] {
    try await read { db in
      let sql = """
        SELECT job, owner, path, action, device, inode, size, modified, downloaded, attempts
        FROM file_action INDEXED BY file_action_due WHERE next_at <= :now ORDER BY next_at, job LIMIT :limit
        """
      return try db.rows(sql) { bind in
        bind("now", now)
        bind("limit", limit)
      } read: {
        try PendingFileAction(&$0)
      }
    }
  }

  /// When the next postponed file action is due; `nil`: none is postponed.
  public func nextFileAction() async throws(StoreError) -> Date? {
    try await read { db in
      try db.row("SELECT min(next_at) AS next_at FROM file_action") { try $0.optionalDate("next_at") } ?? nil
    }
  }

  /// When the next unfinished upload is due to be deleted on its server; `nil`: none.
  public func nextRemoteCleanup() async throws(StoreError) -> Date? {
    try await read { db in
      try db.row("SELECT min(next_at) AS next_at FROM remote_cleanup") { try $0.optionalDate("next_at") } ?? nil
    }
  }

  /// Stores how file actions ended: in the job's row, if it is still there, and in the history.
  public func record(_ outcomes: [FileActionOutcome], at now: Date) async throws(StoreError) {
    try await queue.run(weight: outcomes.count * 3) { transaction in
      for outcome in outcomes { try transaction.record(outcome, at: now) }
    }
  }

  /// Makes the failed file actions of these jobs due again.
  public func retryFileActions(of jobs: [JobID], at now: Date) async throws(StoreError) {
    guard !jobs.isEmpty else { return }
    try await queue.run(weight: jobs.count * 2) { transaction in
      for job in jobs {
        try transaction.run(
          "UPDATE file_action SET next_at = :now, attempts = 0 WHERE job = :job AND next_at IS NULL"
        ) { bind in
          bind("now", now)
          bind("job", job)
        }
        guard transaction.db.changesCount == 1 else { continue }
        try transaction.setAction(of: job, .pending, nil)
      }
    }
  }
}

extension Transaction {
  /// Stores what remains to be done after the end of a job. Called before the row loses its ledger.
  func noteLeftovers(_ settlement: Settlement, to state: JobState, at now: Date) throws {
    switch state {
    case .cancelled: try noteRemoteCleanup(of: settlement.id, ledger: settlement.followUp.leftovers, at: now)
    case .completed:
      if let action = settlement.followUp.fileAction { try noteFileAction(action, at: now) }
    case .queued, .running, .retrying, .paused, .failed: break
    }
  }

  /// For a job that is removed: its failed file action goes with it, a pending one is still carried out.
  func forgetFailedAction(of id: JobID) throws {
    try run("DELETE FROM file_action WHERE job = :job AND next_at IS NULL") { $0("job", id) }
  }

  fileprivate func setAction(of job: JobID, _ state: FileAction.State, _ message: String?) throws {
    try run("UPDATE job SET action_state = :state, action_message = :message WHERE id = :id") { bind in
      bind("state", state.rawValue)
      bind("message", message)
      bind("id", job)
    }
  }

  func noteFileAction(_ action: PendingFileAction, at now: Date) throws {
    try run(
      """
      INSERT INTO file_action (job, owner, path, action, device, inode, size, modified, downloaded, next_at)
      VALUES (:job, :owner, :path, :action, :device, :inode, :size, :modified, :downloaded, :next_at) ON CONFLICT DO NOTHING
      """
    ) { bind in
      bind("job", action.job)
      bind("owner", action.owner)
      bind("path", action.path)
      bind("action", action.action.description)
      bind("device", Int64(bitPattern: action.stamp.device))
      bind("inode", Int64(bitPattern: action.stamp.inode))
      bind("size", action.stamp.size)
      bind("modified", action.stamp.modified)
      bind("downloaded", action.isDownloaded)
      bind("next_at", now)
    }
    try setAction(of: action.job, .pending, nil)
  }

  fileprivate mutating func record(_ outcome: FileActionOutcome, at now: Date) throws {
    let id = outcome.job
    let owner = try db.row("SELECT owner FROM file_action WHERE job = :id", id: id.rawValue) { try $0.uid("owner") }
    // The outcome was already stored, before a crash.
    guard let owner else { return }
    let state: FileAction.State
    switch outcome.end {
    case .postponed(let until):
      try run("UPDATE file_action SET attempts = attempts + 1, next_at = :next_at WHERE job = :job") { bind in
        bind("next_at", until)
        bind("job", id)
      }
      try run("UPDATE job SET action_message = :message WHERE id = :id") { bind in
        bind("message", outcome.message)
        bind("id", id)
      }
      return
    case .done:
      state = .done
      try run("DELETE FROM file_action WHERE job = :job") { $0("job", id) }
    case .failed:
      state = .failed
      try run("UPDATE file_action SET next_at = NULL WHERE job = :job") { $0("job", id) }
    }
    try setAction(of: id, state, outcome.message)
    let end: JobState? = db.changesCount == 1 ? .completed : nil
    try note(.changed, job: outcome.job, of: owner, at: now, from: end, to: end, reason: outcome.message)
  }
}
