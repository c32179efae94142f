import FoundationEssentials
import GRDB

/// Stores secrets in rows of `secret`. One row holds the secrets of many jobs.
///
/// `PRAGMA secure_delete` alone does not erase everything from an SQLite file: when SQLite moves rows between pages,
/// because other rows are added or removed, the old bytes stay in the unused space of a page. Only a row's overflow
/// pages never move (https://sqlite.org/fileformat.html#cell_payload_overflow_pages): they are overwritten in place,
/// and `secure_delete` sets them to zero when they are freed. So every secret must be stored in overflow pages. For
/// that, the data begins with padding that is longer than the part of a row in the b-tree's own pages, and ends with
/// zeros that keep this part at its least length.
struct SecretPack {
  /// Maximum length of a row, unless a single job needs more.
  static let maximumBytes = 16 * 1024
  /// Longer than the part of a row that is stored in the b-tree's pages.
  static let paddingBytes = 512
  /// SQLite's default page, which this database uses.
  private static let pageBytes = 4096

  private var id: Int64?
  private var data = Data()

  /// Where `bytes` will be stored. `keep` stores them.
  mutating func place(for bytes: Data, _ transaction: Transaction) throws -> SecretPlace {
    if id != nil, data.count + bytes.count > Self.maximumBytes { try flush(transaction) }
    if id == nil {
      id = try transaction.db.row("SELECT COALESCE(max(id), 0) + 1 AS id FROM secret") { try $0.int64("id") }
      data = Data(count: Self.paddingBytes)
    }
    return SecretPlace(id: id ?? 1, offset: data.count, length: bytes.count)
  }

  mutating func keep(_ bytes: Data) { data.append(bytes) }

  /// Writes the bytes that were kept.
  mutating func flush(_ transaction: Transaction) throws {
    guard let id, data.count > Self.paddingBytes else { return }
    let data = data + Data(count: Self.fillBytes(for: data.count))
    try transaction.db.run("INSERT INTO secret (id, data) VALUES (:id, :data)") { bind in
      bind("id", id)
      bind("data", data)
    }
    self.id = nil
  }

  /// The number of zeros at the end that make all of a row but its first `local` bytes fill whole overflow pages. The first four
  /// bytes of such a page name the next one.
  static func fillBytes(for count: Int) -> Int {
    let local = (pageBytes - 12) * 32 / 255 - 23
    // The record's header: its own length, the NULL that stands for the id, and the data's type, which gives its length.
    let header = count + pageBytes < 8186 ? 4 : 5
    let rest = max(1, count + header - local)
    let page = pageBytes - 4
    return (page - rest % page) % page
  }
}
