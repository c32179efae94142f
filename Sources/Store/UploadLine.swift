import GRDB
import TransferAPI

/// Unfinished uploads to the same URL form a line, in the order in which they joined it: two at once would leave it to chance
/// which file the server keeps. Leaving by an end or a removal is done by triggers.
extension Transaction {
  /// The last of the line; `nil` where nobody stands in it.
  /// - Parameter destination: `JobSpec.storedDestination`.
  func endOfLine(to destination: String, except job: JobID? = nil) throws -> (id: JobID, owner: UInt32)? {
    let sql = """
      SELECT id, owner FROM job INDEXED BY job_upload_destination
      WHERE destination = ? AND kind = 'upload'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused')
        AND id <> ? AND NOT EXISTS (SELECT 1 FROM job AS next WHERE next.follows = job.id)
      """
    return try db.row(sql) { bind in
      bind(destination)
      bind(job?.rawValue ?? 0)
    } read: { reader in
      (JobID(try reader.int64()), try reader.uid())
    }
  }

  /// Puts an upload that is in no line, and is unfinished or about to be, at the end of its own.
  func joinLine(_ id: JobID) throws {
    guard let spec = try JobRecord.fetch(db, id: id, in: .everything)?.spec, spec.replacesTarget,
      let last = try endOfLine(to: spec.storedDestination, except: id)?.id
    else { return }
    try run("UPDATE job SET follows = ? WHERE id = ?", [last.rawValue, id.rawValue])
  }

  /// For an upload that goes elsewhere.
  func leaveLine(_ id: JobID) throws {
    let statement = try db.cachedStatement(sql: "SELECT follows FROM job WHERE id = ?")
    let follows = try Int64.fetchOne(statement, arguments: [id.rawValue])
    try run("UPDATE job SET follows = NULL WHERE id = ?", [id.rawValue])
    try run("UPDATE job SET follows = ? WHERE follows = ?", [follows, id.rawValue])
  }
}

extension Store {
  /// The jobs that others wait for.
  public func followed() async throws(StoreError) -> Set<JobID> {
    try await read { db in
      Set(
        try Int64.fetchAll(db, sql: "SELECT follows FROM job INDEXED BY job_follows WHERE follows IS NOT NULL")
          .map(JobID.init(rawValue:)))
    }
  }
}
