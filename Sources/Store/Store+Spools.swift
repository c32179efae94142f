import GRDB
import TransferAPI

extension Store {
  /// The tokens of the spooled files of all jobs, each with whether the file is still needed: after `completed` and `cancelled`
  /// it is not.
  public func spools() async throws(StoreError) -> [String: Bool] {
    try await read { db in
      var spools: [String: Bool] = [:]
      try db.each("SELECT spool, state FROM job INDEXED BY job_spool WHERE spool IS NOT NULL") { row in
        let token = try row.text("spool")
        let state: JobState = try row.word("state")
        spools[token] = state != .completed && state != .cancelled
        return true
      }
      return spools
    }
  }
}
