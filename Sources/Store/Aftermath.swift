public import FoundationEssentials
import GRDB
public import TransferAPI

/// What remains to be done when a job has ended: stored in the transaction that ends it, done afterwards, and done again after
/// a crash until the store is told that it is done.
public struct Aftermath: Equatable, Sendable {
  /// What becomes of the uploaded file; only with `complete`.
  public var fileAction: PendingFileAction?
  /// The newest ledger of an upload that is cancelled; `nil`: the row's.
  public var leftovers: Data?
  /// A command is to be told of the end, if the end is `completed` or `failed`.
  public var wantsHook = false

  public init() {}
}

/// Which version of a file: what must be the same for it to be the one that was sent.
public struct SourceStamp: Equatable, Sendable {
  public var device: UInt64
  public var inode: UInt64
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modified: Int64

  public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
  }
}

/// A file that the server has, and what is to be done with it.
public struct PendingFileAction: Equatable, Sendable {
  public var job: JobID
  /// The uid of the job's owner: a member's job touches the member's own files only.
  public var owner: UInt32
  public var path: String
  public var action: SuccessAction
  public var stamp: SourceStamp
  public var tries = 0

  public init(job: JobID, owner: UInt32, path: String, action: SuccessAction, stamp: SourceStamp) {
    self.job = job
    self.owner = owner
    self.path = path
    self.action = action
    self.stamp = stamp
  }
}

/// How a try at a file action went.
public struct FileActionOutcome: Equatable, Sendable {
  public enum End: Equatable, Sendable {
    case done
    /// Not tried again.
    case failed
    /// The same may succeed then.
    case postponed(until: Date)
  }

  public var job: JobID
  public var end: End
  /// What was done, or why not.
  public var message: String

  public init(job: JobID, end: End, message: String) {
    self.job = job
    self.end = end
    self.message = message
  }
}

extension Store {
  /// File actions that are due, oldest first.
  public func dueFileActions(now: Date, limit: Int) async throws(StoreError) -> [PendingFileAction] {
    try await read { db in
      let sql = """
        SELECT job, path, action, device, inode, size, modified, tries, owner
        FROM file_action INDEXED BY file_action_due WHERE next_at <= ? ORDER BY next_at, job LIMIT ?
        """
      return try db.rows(sql) { bind in
        bind(now.milliseconds)
        bind(limit)
      } read: {
        try PendingFileAction(&$0)
      }
    }
  }

  /// When the next file action that was put off is due; `nil` where none waits for a time.
  public func nextFileAction() async throws(StoreError) -> Date? {
    try await read { db in
      try Int64.fetchOne(db, sql: "SELECT min(next_at) FROM file_action").map(Date.init(milliseconds:))
    }
  }

  /// When the next unfinished upload is due to be deleted on its server; `nil`: none.
  public func nextAbandonment() async throws(StoreError) -> Date? {
    try await read { db in
      try Int64.fetchOne(db, sql: "SELECT min(next_at) FROM abandonment").map(Date.init(milliseconds:))
    }
  }

  /// Tells how file actions went: in the job's row, if it is still there, and in the history.
  public func record(_ outcomes: [FileActionOutcome], at now: Date) async throws(StoreError) {
    try await queue.run(weight: outcomes.count * 3) { transaction in
      for outcome in outcomes { try transaction.record(outcome, at: now) }
    }
  }

  /// Lets failed file actions of these jobs be tried once more.
  public func retryFileActions(of jobs: [JobID], at now: Date) async throws(StoreError) {
    guard !jobs.isEmpty else { return }
    try await queue.run(weight: jobs.count * 2) { transaction in
      for job in jobs {
        try transaction.run(
          "UPDATE file_action SET next_at = ?, tries = 0 WHERE job = ? AND next_at IS NULL",
          [now.milliseconds, job.rawValue])
        guard transaction.db.changesCount == 1 else { continue }
        try transaction.run(
          "UPDATE job SET action_state = 'pending', action_message = NULL WHERE id = ?", [job.rawValue])
      }
    }
  }
}

extension Transaction {
  /// Before the row forgets its ledger.
  func noteLeftovers(_ settlement: Settlement, to state: JobState, at now: Date) throws {
    switch state {
    case .cancelled: try noteAbandonment(of: settlement.id, ledger: settlement.aftermath.leftovers, at: now)
    case .completed:
      if let action = settlement.aftermath.fileAction { try noteFileAction(action, at: now) }
    case .queued, .running, .retrying, .paused, .failed: break
    }
  }

  /// A job that goes takes along what had failed; what is pending is done all the same.
  func forgetFailedAction(of id: JobID) throws {
    try run("DELETE FROM file_action WHERE job = ? AND next_at IS NULL", [id.rawValue])
  }

  func noteFileAction(_ action: PendingFileAction, at now: Date) throws {
    try run(
      """
      INSERT INTO file_action (job, path, action, device, inode, size, modified, next_at, owner)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """,
      [
        action.job.rawValue, action.path, action.action.description, Int64(bitPattern: action.stamp.device),
        Int64(bitPattern: action.stamp.inode), action.stamp.size, action.stamp.modified, now.milliseconds,
        Int64(action.owner),
      ])
    try run(
      "UPDATE job SET action_state = 'pending', action_message = NULL WHERE id = ?", [action.job.rawValue])
  }

  fileprivate mutating func record(_ outcome: FileActionOutcome, at now: Date) throws {
    let id = outcome.job.rawValue
    let owner = try db.row("SELECT owner FROM file_action WHERE job = ?") { bind in
      bind(id)
    } read: {
      try $0.uid()
    }
    // Told twice, after a crash.
    guard let owner else { return }
    let state: FileAction.State
    switch outcome.end {
    case .postponed(let until):
      try run("UPDATE file_action SET tries = tries + 1, next_at = ? WHERE job = ?", [until.milliseconds, id])
      try run("UPDATE job SET action_message = ? WHERE id = ?", [outcome.message, id])
      return
    case .done:
      state = .done
      try run("DELETE FROM file_action WHERE job = ?", [id])
    case .failed:
      state = .failed
      try run("UPDATE file_action SET next_at = NULL WHERE job = ?", [id])
    }
    try run(
      "UPDATE job SET action_state = ?, action_message = ? WHERE id = ?", [state.rawValue, outcome.message, id])
    let end: JobState? = db.changesCount == 1 ? .completed : nil
    try note(.changed, job: outcome.job, of: owner, at: now, from: end, to: end, reason: outcome.message)
  }
}

extension PendingFileAction {
  fileprivate init(_ reader: inout RowReader) throws {
    job = JobID(try reader.int64())
    reader.subject = "the file action of job \(job)"
    path = try reader.text()
    action = try SuccessAction(parsing: try reader.text())
    stamp = SourceStamp(
      device: UInt64(bitPattern: try reader.int64()), inode: UInt64(bitPattern: try reader.int64()),
      size: try reader.int64(), modified: try reader.int64())
    tries = try reader.int()
    owner = try reader.uid()
  }
}
