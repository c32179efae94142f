import FoundationEssentials
import GRDB

/// Where the secrets of a job or an abandonment stand.
struct SecretPlace: Equatable {
  /// The row of `secret`.
  var id: Int64
  /// In bytes of its data.
  var offset: Int
  var length: Int
}

/// Puts secrets into rows of `secret`, those of many jobs into one.
///
/// To erase something from an SQLite file takes more than `PRAGMA secure_delete`: when rows move from page to page, because
/// others come or go, their old bytes stay behind in the unused space of a page, whatever the pragma says. What never moves is
/// a row's overflow pages (https://sqlite.org/fileformat.html#cell_payload_overflow_pages): they are written over in place,
/// and set to zero when they are given up under `secure_delete`. So the rows are made such that no secret stands outside them:
/// the data begins with padding as long as the part of a row that stands in the b-tree's own pages, and ends so that this part
/// has its least length.
struct SecretPack {
  /// Rows are at most so long, unless a single job needs more.
  static let maximumBytes = 16 * 1024
  /// Longer than what a row keeps in the b-tree's pages.
  static let paddingBytes = 512
  /// SQLite's default page, which this database uses.
  private static let pageBytes = 4096

  private var id: Int64?
  private var data = Data()

  /// Where `bytes` will stand. They are not kept before `keep` is called with them.
  mutating func place(for bytes: Data, _ transaction: Transaction) throws -> SecretPlace {
    if id != nil, data.count + bytes.count > Self.maximumBytes { try flush(transaction) }
    if id == nil {
      id = try transaction.db.row("SELECT COALESCE(max(id), 0) + 1 FROM secret") { try $0.int64() }
      data = Data(count: Self.paddingBytes)
    }
    return SecretPlace(id: id ?? 1, offset: data.count, length: bytes.count)
  }

  mutating func keep(_ bytes: Data) { data.append(bytes) }

  /// Writes what was kept.
  mutating func flush(_ transaction: Transaction) throws {
    guard let id, data.count > Self.paddingBytes else { return }
    let data = data + Data(count: Self.fillBytes(for: data.count))
    try transaction.db.run("INSERT INTO secret (id, data) VALUES (?, ?)") { bind in
      bind(id)
      bind(data)
    }
    self.id = nil
  }

  /// Zeros at the end, so that all of a row but its first `local` bytes fills whole overflow pages, whose first four bytes
  /// name the next one.
  static func fillBytes(for count: Int) -> Int {
    let local = (pageBytes - 12) * 32 / 255 - 23
    // The record's header: its own length, the NULL in the place of the id, the data's type, which says its length.
    let header = count + pageBytes < 8186 ? 4 : 5
    let rest = max(1, count + header - local)
    let page = pageBytes - 4
    return (page - rest % page) % page
  }
}

extension Transaction {
  /// Keeps secrets in a row of their own.
  func keep(_ secrets: Data) throws -> SecretPlace {
    var pack = SecretPack()
    let place = try pack.place(for: secrets, self)
    pack.keep(secrets)
    try pack.flush(self)
    return place
  }

  func secrets(at place: SecretPlace) throws -> Data? {
    try db.row("SELECT substr(data, ? + 1, ?) FROM secret WHERE id = ?") { bind in
      bind(place.offset)
      bind(place.length)
      bind(place.id)
    } read: {
      try $0.optionalData()
    } ?? nil
  }

  /// Erases secrets: in the file itself at the checkpoint that follows (`WriteQueue.scrub`).
  mutating func erase(_ place: SecretPlace?) throws {
    guard let place else { return }
    let found: Data?? = try db.row("SELECT data FROM secret WHERE id = ?") { bind in
      bind(place.id)
    } read: {
      try $0.optionalData()
    }
    guard case .some(.some(var data)) = found, place.offset >= 0, place.length >= 0,
      // checked: the offset is at most the count
      place.offset <= data.count, place.length <= data.count - place.offset
    else { return }
    let start = data.startIndex + place.offset  // checked: within the data
    data.resetBytes(in: start..<start + place.length)  // checked: within the data
    isErasing = true
    // Executed while it is prepared (https://sqlite.org/pragma.html): a cached statement would do nothing.
    try db.execute(sql: "PRAGMA secure_delete = ON")
    defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
    if data.allSatisfy({ $0 == 0 }) {
      try db.run("DELETE FROM secret WHERE id = ?") { $0(place.id) }
    } else {
      try db.run("UPDATE secret SET data = ? WHERE id = ?") { bind in
        bind(data)
        bind(place.id)
      }
    }
  }

  /// Where the secrets of a row of `table` stand.
  func secretPlace(in table: SecretOwner, _ id: Int64) throws -> SecretPlace? {
    try db.row("SELECT secret, secret_offset, secret_length FROM \(table.rawValue) WHERE id = ?") { bind in
      bind(id)
    } read: {
      try SecretPlace(&$0)
    } ?? nil
  }

  func setSecretPlace(in table: SecretOwner, _ id: Int64, _ place: SecretPlace?) throws {
    try db.run("UPDATE \(table.rawValue) SET secret = ?, secret_offset = ?, secret_length = ? WHERE id = ?") { bind in
      bind(place)
      bind(id)
    }
  }
}

/// The tables whose rows have secrets.
enum SecretOwner: String {
  case job, abandonment
}

extension SecretPlace {
  /// Three columns; `nil` where the first is NULL.
  init?(_ reader: inout RowReader) throws {
    guard let id = try reader.optionalInt64() else { return nil }
    self.init(id: id, offset: try reader.int(), length: try reader.int())
  }
}

extension Binder {
  /// Three columns, NULL without a place.
  mutating func callAsFunction(_ place: SecretPlace?) {
    self(place?.id)
    self(place?.offset)
    self(place?.length)
  }
}
