import FoundationEssentials
import GRDB
import GRDBSQLite
import TransferAPI
import WireValues

/// Reads the columns of a row by name. A value of the wrong type, or a name that the statement does not have, is an error
/// that names the row and the column: it is neither skipped nor does it stop the program.
struct RowReader {
  /// What the row is, for the error.
  var subject = "a row"
  private let statement: OpaquePointer
  private let names: NamePositions
  private let count: Int32
  /// The column after the one read last. Calls usually come in the statement's order, so that one comparison finds a name.
  private var next: Int32 = 0

  /// The row that the statement was stepped to; good until it is stepped again.
  /// - Parameter names: those that were found in earlier rows of the statement.
  init(_ statement: OpaquePointer, _ names: NamePositions) {
    self.statement = statement
    self.names = names
    count = sqlite3_column_count(statement)
  }

  /// The bytes of all texts and blobs of the row.
  var bytes: Int {
    var bytes = 0
    for index in 0..<max(0, count) {
      switch sqlite3_column_type(statement, index) {
      case SQLITE_TEXT, SQLITE_BLOB: bytes += Int(sqlite3_column_bytes(statement, index))
      // sqlite3_column_bytes would make a text of a number.
      default: break
      }
    }
    return bytes
  }

  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  private func unreadable(_ name: StaticString) -> Unreadable {
    Unreadable(description: "\(subject) has an unreadable \(name)")
  }

  /// The column's position, and the type of its value (`sqlite3_column_type`).
  private mutating func find(_ name: StaticString) throws -> (index: Int32, type: Int32) {
    if names.isKnown(name, at: next) {
      defer { next += 1 }  // checked: at most the number of columns
      return (next, sqlite3_column_type(statement, next))
    }
    for step in 0..<max(0, count) {
      let index = (next + step) % count  // checked: both are at most the number of columns
      if let other = sqlite3_column_name(statement, index), name.isEqual(to: other) {
        names.note(name, at: index)
        next = index + 1
        return (index, sqlite3_column_type(statement, index))
      }
    }
    throw Unreadable(description: "\(subject) has no column \(name)")
  }

  mutating func optionalInt64(_ name: StaticString) throws -> Int64? {
    let column = try find(name)
    switch column.type {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column.index)
    case SQLITE_NULL: return nil
    default: throw unreadable(name)
    }
  }

  mutating func optionalDouble(_ name: StaticString) throws -> Double? {
    let column = try find(name)
    switch column.type {
    case SQLITE_FLOAT, SQLITE_INTEGER: return sqlite3_column_double(statement, column.index)
    case SQLITE_NULL: return nil
    default: throw unreadable(name)
    }
  }

  mutating func optionalText(_ name: StaticString) throws -> String? {
    let column = try find(name)
    switch column.type {
    case SQLITE_TEXT:
      return String(
        decoding: UnsafeRawBufferPointer(
          start: sqlite3_column_text(statement, column.index),
          count: Int(sqlite3_column_bytes(statement, column.index))),
        as: UTF8.self)
    case SQLITE_NULL: return nil
    default: throw unreadable(name)
    }
  }

  mutating func optionalData(_ name: StaticString) throws -> Data? {
    let column = try find(name)
    switch column.type {
    case SQLITE_BLOB:
      return sqlite3_column_blob(statement, column.index).map {
        Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column.index)))
      } ?? Data()
    case SQLITE_NULL: return nil
    default: throw unreadable(name)
    }
  }

  mutating func int64(_ name: StaticString) throws -> Int64 { try required(name, optionalInt64(name)) }

  mutating func int(_ name: StaticString) throws -> Int { try required(name, Int(exactly: try int64(name))) }

  mutating func optionalInt(_ name: StaticString) throws -> Int? {
    guard let value = try optionalInt64(name) else { return nil }
    return try required(name, Int(exactly: value))
  }

  mutating func uid(_ name: StaticString) throws -> UInt32 { try required(name, UInt32(exactly: try int64(name))) }

  mutating func jobID(_ name: StaticString) throws -> JobID { JobID(try int64(name)) }

  mutating func optionalJobID(_ name: StaticString) throws -> JobID? { try optionalInt64(name).map { JobID($0) } }

  mutating func bool(_ name: StaticString) throws -> Bool { try int64(name) != 0 }
  mutating func text(_ name: StaticString) throws -> String { try required(name, optionalText(name)) }
  mutating func date(_ name: StaticString) throws -> Date { try required(name, optionalDate(name)) }

  /// Calendars do not reach as far as an Int64 of milliseconds does: a time beyond them was not stored by this program.
  mutating func optionalDate(_ name: StaticString) throws -> Date? {
    guard let milliseconds = try optionalInt64(name) else { return nil }
    guard Date.storableMilliseconds.contains(milliseconds) else { throw unreadable(name) }
    return Date(milliseconds: milliseconds)
  }

  mutating func optionalWord<Word: RawRepresentable<String>>(_ name: StaticString) throws -> Word? {
    guard let text = try optionalText(name) else { return nil }
    return try required(name, Word(rawValue: text))
  }

  mutating func word<Word: RawRepresentable<String>>(_ name: StaticString) throws -> Word {
    try required(name, optionalWord(name))
  }

  mutating func optionalJSON<Value: Decodable>(_ name: StaticString) throws -> Value? {
    guard let text = try optionalText(name) else { return nil }
    return try required(name, try? WireCoding.decoder().decode(Value.self, from: Data(text.utf8)))
  }

  mutating func options(_ name: StaticString) throws -> JobOptions {
    guard let text = try optionalText(name) else { return JobOptions() }
    return try required(name, try? OptionText.options(of: text))
  }

  mutating func secrets(_ name: StaticString) throws -> JobSecrets? {
    guard let data = try optionalData(name) else { return nil }
    return try required(name, try? JobSecrets(data))
  }

  /// Reads `error_code`, `error_message`, `error_status` and `error_transient`.
  mutating func failure() throws -> JobFailure? {
    guard let code = try optionalText("error_code") else { return nil }
    return JobFailure(
      code: JobFailure.Code(rawValue: code), message: try text("error_message"),
      httpStatus: try optionalInt64("error_status").map { Int(clamping: $0) },
      transient: try bool("error_transient"))
  }

  private func required<Value>(_ name: StaticString, _ value: Value?) throws -> Value {
    guard let value else { throw unreadable(name) }
    return value
  }
}

extension Date {
  /// As stored: milliseconds since 1970. Times that a server has made up are cut off some 270,000 years away,
  /// so that no sum with a wait overflows.
  var milliseconds: Int64 { storable(timeIntervalSince1970 * 1000) }

  /// The range of stored times.
  static let storableMilliseconds: ClosedRange<Int64> = -8_640_000_000_000_000...8_640_000_000_000_000

  init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Duration {
  var milliseconds: Int64 { storable(self / .milliseconds(1)) }
}

/// No number at all (NaN) is stored as 1970.
private func storable(_ milliseconds: Double) -> Int64 {
  guard !milliseconds.isNaN else { return 0 }
  return CheckedNumber(rounding: min(max(milliseconds, -8.64e15), 8.64e15)).value ?? 0
}

/// 8 random hexadecimal digits.
func randomToken() -> String {
  let digits = String(UInt32.random(in: .min ... .max), radix: 16)
  return String(repeating: "0", count: 8 - digits.count) + digits
}
