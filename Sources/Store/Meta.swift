import FoundationEssentials
import GRDB

/// Facts about the database itself.
enum Meta {
  static func create(_ db: Database, storeID: String, now: Date) throws {
    try set(db, "store-id", storeID)
    try set(db, "created-at", String(now.milliseconds))
    try set(db, "closed", "1")
    try noteRewritten(db)
  }

  /// Whether the file was written only by releases that leave no secrets in its unused space.
  static func isRewritten(_ db: Database) throws -> Bool { try value(db, "rewritten") == "3" }

  static func noteRewritten(_ db: Database) throws { try set(db, "rewritten", "3") }

  static func storeID(_ db: Database) throws -> String? { try value(db, "store-id") }

  /// Whether the last daemon closed the database. `false` while one has it open.
  static func wasClosed(_ db: Database) throws -> Bool { try value(db, "closed") == "1" }

  /// The boot in which the database was last opened. A process that dies loses nothing that it has written to the
  /// kernel, so the file may be damaged only after another boot.
  static func bootID(_ db: Database) throws -> String? { try value(db, "boot-id") }

  static func currentBootID() -> String {
    // If the id cannot be read, return a value that matches no boot, so that the file is checked.
    guard let data = try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")), !data.isEmpty
    else {
      return "unknown \(randomToken())"
    }
    return String(decoding: data.prefix(36), as: UTF8.self)
  }

  static func noteOpened(_ db: Database) throws {
    try set(db, "closed", "0")
    try set(db, "boot-id", currentBootID())
  }

  static func noteClosed(_ db: Database) throws { try set(db, "closed", "1") }

  /// The run whose crash was counted last.
  static func crash(_ db: Database) throws -> CountedCrash? {
    guard let run = try value(db, "crashed-run") else { return nil }
    return CountedCrash(
      run: run, jobs: try value(db, "crashed-jobs").flatMap { Int($0) } ?? 0,
      isOver: try value(db, "crashed-over") == "1")
  }

  static func noteCrash(_ db: Database, _ crash: CountedCrash) throws {
    try set(db, "crashed-run", crash.run)
    try set(db, "crashed-jobs", String(crash.jobs))
    try set(db, "crashed-over", crash.isOver ? "1" : "0")
  }

  fileprivate static func value(_ db: Database, _ name: String) throws -> String? {
    try db.row("SELECT value FROM meta WHERE name = :name") { bind in
      bind("name", name)
    } read: {
      try $0.text("value")
    }
  }

  fileprivate static func set(_ db: Database, _ name: String, _ value: String) throws {
    let sql = """
      INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT DO UPDATE SET value = excluded.value
      """
    try db.run(sql) { bind in
      bind("name", name)
      bind("value", value)
    }
  }
}

extension Store {
  /// Stores a named note, so that a message or an action that depends on it is not repeated in the life of this
  /// database.
  /// - Returns: whether the note is new: there was none, or it had another value.
  public func note(_ name: String, _ value: String) async throws(StoreError) -> Bool {
    try await queue.run(weight: 1) { transaction in
      guard try Meta.value(transaction.db, name) != value else { return false }
      try Meta.set(transaction.db, name, value)
      return true
    }
  }
}
