import GRDB
import TransferAPI

/// Unfinished uploads of one user to the same URL form a line, in the order in which they joined it: two at once would leave it
/// to chance which file the server keeps. A job leaves its line when it ends, is removed or gets another URL. A relay joins it
/// when its upload begins, so no job of a line still waits for space in the spool. Each user has a line of their own, because a
/// job that is paused, or whose start time is far away, keeps its place: it must not hold up those of others.
extension Transaction {
  /// The last job of the owner's line; `nil`: the line is empty.
  /// - Parameter destination: `JobSpec.storedDestination`.
  func endOfLine(to destination: String, of owner: UInt32, except job: JobID? = nil) throws -> JobID? {
    // Backwards, because the last one of a long line is nearly always the newest.
    try row(
      """
      SELECT id FROM job INDEXED BY job_upload_destination
      WHERE destination = :destination AND (kind = 'upload' OR phase = 'upload') AND finished_at IS NULL
        AND owner = :owner AND id <> :except
        AND NOT EXISTS (SELECT 1 FROM job AS next WHERE next.blocked_by = job.id)
      ORDER BY id DESC LIMIT 1
      """
    ) { bind in
      bind("destination", destination)
      bind("owner", owner)
      bind("except", job?.rawValue ?? 0)
    } read: { row in
      try row.jobID("id")
    }
  }

  /// Puts an upload that is in no line, and is unfinished or about to be, at the end of its line.
  func joinLine(_ id: JobID) throws {
    guard let spec = try JobRecord.fetch(db, id: id, in: .everything)?.spec, spec.replacesTarget,
      let last = try endOfLine(to: spec.storedDestination, of: spec.owner, except: id)
    else { return }
    try setBlocker(of: id, last)
  }

  /// Takes an upload out of its line: the next one takes its place.
  func leaveLine(_ id: JobID) throws {
    let blocker = try row("SELECT blocked_by FROM job WHERE id = :id AND blocked_by IS NOT NULL", id: id.rawValue) {
      try $0.jobID("blocked_by")
    }
    // First, because at most one upload is blocked by another.
    if blocker != nil { try setBlocker(of: id, nil) }
    try run("UPDATE job SET blocked_by = :blocker WHERE blocked_by = :id") { bind in
      bind("blocker", blocker)
      bind("id", id)
    }
  }

  private func setBlocker(of id: JobID, _ blocker: JobID?) throws {
    try run("UPDATE job SET blocked_by = :blocker WHERE id = :id") { bind in
      bind("blocker", blocker)
      bind("id", id)
    }
  }
}

extension Store {
  /// The jobs that block others.
  public func blockers() async throws(StoreError) -> Set<JobID> {
    try await read { db in
      let sql = "SELECT blocked_by FROM job INDEXED BY job_blocked_by WHERE blocked_by IS NOT NULL"
      return Set(try db.rows(sql) { try $0.jobID("blocked_by") })
    }
  }
}
