import FoundationEssentials
import GRDB
import GRDBSQLite
import TransferAPI
import WireValues

/// Reads a row's columns from left to right. A value of the wrong type is an error that names the row: it is
/// neither skipped nor trapped on.
struct RowReader {
  /// What the row is, for the error.
  var subject = "a row"
  private let statement: OpaquePointer
  private var index: Int32 = 0

  /// The row that the statement was stepped to; good until it is stepped again.
  init(_ statement: OpaquePointer) { self.statement = statement }

  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  /// The kind of the next column (`sqlite3_column_type`), which is then the last one.
  private mutating func next() -> Int32 {
    defer { index += 1 }
    return sqlite3_column_type(statement, index)
  }

  private var last: Int32 { index - 1 }

  private func unreadable() -> Unreadable {
    let column = sqlite3_column_name(statement, last).map { String(cString: $0) } ?? "column \(index)"
    return Unreadable(description: "\(subject) has an unreadable \(column)")
  }

  mutating func skip() { index += 1 }

  mutating func optionalInt64() throws -> Int64? {
    switch next() {
    case SQLITE_INTEGER: sqlite3_column_int64(statement, last)
    case SQLITE_NULL: nil
    default: throw unreadable()
    }
  }

  mutating func optionalDouble() throws -> Double? {
    switch next() {
    case SQLITE_FLOAT, SQLITE_INTEGER: sqlite3_column_double(statement, last)
    case SQLITE_NULL: nil
    default: throw unreadable()
    }
  }

  mutating func optionalText() throws -> String? {
    switch next() {
    case SQLITE_TEXT:
      String(
        decoding: UnsafeRawBufferPointer(
          start: sqlite3_column_text(statement, last), count: Int(sqlite3_column_bytes(statement, last))),
        as: UTF8.self)
    case SQLITE_NULL: nil
    default: throw unreadable()
    }
  }

  mutating func optionalData() throws -> Data? {
    switch next() {
    case SQLITE_BLOB:
      sqlite3_column_blob(statement, last).map {
        Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, last)))
      } ?? Data()
    case SQLITE_NULL: nil
    default: throw unreadable()
    }
  }

  mutating func int64() throws -> Int64 { try required(optionalInt64()) }
  mutating func int() throws -> Int { try required(Int(exactly: try int64())) }
  mutating func uid() throws -> UInt32 {
    guard let uid = UInt32(exactly: try int64()) else { throw unreadable() }
    return uid
  }

  mutating func bool() throws -> Bool { try int64() != 0 }
  mutating func text() throws -> String { try required(optionalText()) }
  mutating func date() throws -> Date { try required(optionalDate()) }

  /// Calendars cannot count as far as an Int64 of milliseconds reaches: such a time was not stored here.
  mutating func optionalDate() throws -> Date? {
    guard let milliseconds = try optionalInt64() else { return nil }
    guard Date.storableMilliseconds.contains(milliseconds) else { throw unreadable() }
    return Date(milliseconds: milliseconds)
  }

  /// A time limit: above 0, at most 366 days. What is longer, or no number, stops the program where it becomes a Duration.
  mutating func optionalSeconds() throws -> Double? {
    guard let seconds = try optionalDouble() else { return nil }
    guard seconds > 0, seconds <= 366 * 86400 else { throw unreadable() }
    return seconds
  }

  mutating func optionalWord<Word: RawRepresentable<String>>() throws -> Word? {
    guard let text = try optionalText() else { return nil }
    guard let word = Word(rawValue: text) else { throw unreadable() }
    return word
  }

  mutating func word<Word: RawRepresentable<String>>() throws -> Word { try required(optionalWord()) }

  mutating func optionalJSON<Value: Decodable>() throws -> Value? {
    guard let text = try optionalText() else { return nil }
    do {
      return try WireCoding.decoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      throw unreadable()
    }
  }

  mutating func secrets() throws -> JobSecrets? {
    guard let data = try optionalData() else { return nil }
    do {
      return try JobSecrets(data)
    } catch {
      throw unreadable()
    }
  }

  /// Four columns: code, message, status, transient.
  mutating func failure() throws -> JobFailure? {
    guard let code = try optionalText() else {
      index += 3
      return nil
    }
    return JobFailure(
      code: JobFailure.Code(rawValue: code), message: try text(),
      httpStatus: try optionalInt64().map { Int(clamping: $0) },
      transient: try bool())
  }

  private func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw unreadable() }
    return value
  }
}

extension JobFailure? {
  /// The four columns that hold a failure; all NULL for none.
  var columns: StatementArguments {
    guard let self else { return [nil, nil, nil, nil] }
    return [self.code.rawValue, self.message, self.httpStatus, self.transient]
  }
}

extension Date {
  /// As stored: milliseconds since 1970. Times that a server has made up are cut off some 270,000 years away,
  /// so that no sum with a wait overflows.
  var milliseconds: Int64 { storable(timeIntervalSince1970 * 1000) }

  /// What is stored for a time lies within these.
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
