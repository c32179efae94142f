import GRDB
import TransferAPI

extension Store {
  /// The settings that stand above the configuration. A value of `nil` means that there is no limit.
  public func daemonLimits() async throws(StoreError) -> [String: String?] {
    try await read { db in
      var limits: [String: String?] = [:]
      for (name, value) in try db.rows(
        "SELECT name, value FROM daemon_limit", { _ in }, read: { (try $0.text("name"), try $0.optionalText("value")) })
      { limits.updateValue(value, forKey: name) }
      return limits
    }
  }

  /// Replaces these settings. Durable when this returns.
  public func setDaemonLimits(_ limits: [String: String?]) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run("DELETE FROM daemon_limit") { _ in }
      for (name, value) in limits {
        try transaction.run("INSERT INTO daemon_limit (name, value) VALUES (:name, :value)") { bind in
          bind("name", name)
          bind("value", value)
        }
      }
    }
  }
}
