import FoundationEssentials
import GRDB

extension Transaction {
  /// Stores secrets in a separate row.
  func keep(_ secrets: Data) throws -> SecretPlace {
    var pack = SecretPack()
    let place = try pack.place(for: secrets, self)
    pack.keep(secrets)
    try pack.flush(self)
    return place
  }

  func secrets(at place: SecretPlace) throws -> Data? {
    try db.row("SELECT substr(data, :offset + 1, :length) AS secrets FROM secret WHERE id = :id") { bind in
      bind("offset", place.offset)
      bind("length", place.length)
      bind("id", place.id)
    } read: {
      try $0.optionalData("secrets")
    } ?? nil
  }

  /// Erases secrets. They leave the file itself at the checkpoint that follows (`WriteQueue.scrub`).
  mutating func erase(_ place: SecretPlace?) throws {
    guard let place else { return }
    let found: Data?? = try db.row("SELECT data FROM secret WHERE id = :id", id: place.id) {
      try $0.optionalData("data")
    }
    guard case .some(.some(var data)) = found, place.offset >= 0, place.length >= 0,
      // checked: the offset is at most the count
      place.offset <= data.count, place.length <= data.count - place.offset
    else { return }
    let start = data.startIndex + place.offset  // checked: within the data
    data.resetBytes(in: start..<start + place.length)  // checked: within the data
    isErasing = true
    // SQLite executes this pragma while it prepares the statement (https://sqlite.org/pragma.html), so a cached
    // statement would have no effect.
    try db.execute(sql: "PRAGMA secure_delete = ON")
    defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
    if data.allSatisfy({ $0 == 0 }) {
      try db.run("DELETE FROM secret WHERE id = :id") { $0("id", place.id) }
    } else {
      try db.run("UPDATE secret SET data = :data WHERE id = :id") { bind in
        bind("data", data)
        bind("id", place.id)
      }
    }
  }

  /// Where the secrets of a row of `table` are stored.
  func secretPlace(in table: SecretOwner, _ id: Int64) throws -> SecretPlace? {
    try db.row("SELECT secret, secret_offset, secret_length FROM \(table.rawValue) WHERE id = :id", id: id) {
      try SecretPlace(&$0)
    } ?? nil
  }

  func setSecretPlace(in table: SecretOwner, _ id: Int64, _ place: SecretPlace?) throws {
    let sql = """
      UPDATE \(table.rawValue) SET secret = :secret, secret_offset = :secret_offset, secret_length = :secret_length
      WHERE id = :id
      """
    try db.run(sql) { bind in
      bind.secretPlace(place)
      bind("id", id)
    }
  }
}
