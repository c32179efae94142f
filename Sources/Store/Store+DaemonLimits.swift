import GRDB
import TransferAPI

extension Store {
  /// The settings that stand above the configuration. A value of `nil` means that there is no limit.
  public func daemonLimits() async throws(StoreError) -> [String: String?] {
    try await read { db in
      let limits = try db.rows("SELECT name, value FROM daemon_limit") { row in
        (try row.text("name"), try row.optionalText("value"))
      }
      return Dictionary(uniqueKeysWithValues: limits)  // checked: the name is the key of the table
    }
  }

  /// Replaces these settings. Durable when this returns.
  public func setDaemonLimits(_ limits: [String: String?]) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run("DELETE FROM daemon_limit")
      for (name, value) in limits {
        try transaction.run("INSERT INTO daemon_limit (name, value) VALUES (:name, :value)") { bind in
          bind("name", name)
          bind("value", value)
        }
      }
    }
  }
}
