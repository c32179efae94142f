public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// The remote cleanups that are due, oldest first.
  public func dueRemoteCleanups(now: Date, limit: Int) async throws(StoreError) -> [RemoteCleanup] {
    try await read { db in
      let sql = """
        SELECT \(RemoteCleanup.columns)
        FROM remote_cleanup INDEXED BY remote_cleanup_due WHERE next_at <= :now ORDER BY next_at, id LIMIT :limit
        """
      return try db.rows(sql) { bind in
        bind("now", now)
        bind("limit", limit)
      } read: {
        try RemoteCleanup(&$0)
      }
    }
  }

  /// Forgets a remote cleanup that is done or given up.
  /// - Parameter reason: for the job's history; `nil`: no event is left.
  public func settle(_ cleanup: RemoteCleanup, reason: String?, at now: Date) async throws(StoreError) {
    try await queue.run(weight: 2) { transaction in
      try transaction.erase(transaction.secretPlace(in: .remoteCleanup, cleanup.id))
      try transaction.run("DELETE FROM remote_cleanup WHERE id = :id") { $0("id", cleanup.id) }
      guard let reason, transaction.db.changesCount == 1 else { return }
      try transaction.note(.changed, job: cleanup.job, of: cleanup.spec.owner, at: now, reason: reason)
    }
  }

  public func postpone(_ cleanup: RemoteCleanup, until: Date) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run("UPDATE remote_cleanup SET attempts = attempts + 1, next_at = :next_at WHERE id = :id") {
        bind in
        bind("next_at", until)
        bind("id", cleanup.id)
      }
    }
  }
}

extension Transaction {
  /// Stores a remote cleanup of an unfinished upload. Does nothing without a ledger.
  /// - Parameter ledger: `nil`: the row's.
  func noteRemoteCleanup(of id: JobID, ledger: Data?, at now: Date) throws {
    guard try !noteRelayCleanup(of: id, ledger: ledger, at: now) else { return }
    try run(
      """
      INSERT INTO remote_cleanup (job, source, destination, origin, owner, options, ledger, created_at, next_at)
      SELECT id, source, destination, (SELECT name FROM origin WHERE origin.id = origin_id), owner, options,
        COALESCE(:ledger, resume_data), :now, :now
      FROM job
      WHERE id = :id AND kind = 'upload' AND state <> 'completed' AND COALESCE(:ledger, resume_data) IS NOT NULL
      """
    ) { bind in
      bind("ledger", ledger)
      bind("now", now)
      bind("id", id)
    }
    guard db.changesCount == 1 else { return }
    let cleanup = db.lastInsertedRowID
    // A separate copy, because the job may be removed or get another URL before the cleanup is done.
    guard let place = try secretPlace(in: .job, id.rawValue), let secrets = try secrets(at: place) else { return }
    try setSecretPlace(in: .remoteCleanup, cleanup, try keep(secrets))
  }
}
