import GRDB
import TransferAPI

extension Store {
  /// The tokens of spooled files that jobs have had, and whether each is still needed: after `completed` and `cancelled` it is
  /// not.
  public func spools() async throws(StoreError) -> [String: Bool] {
    try await read { db in
      var spools: [String: Bool] = [:]
      try db.each("SELECT spool, state FROM job INDEXED BY job_spool WHERE spool IS NOT NULL") { reader in
        let token = try reader.text()
        let state: JobState = try reader.word()
        spools[token] = state != .completed && state != .cancelled
        return true
      }
      return spools
    }
  }
}
