import FoundationEssentials
import GRDB
import GRDBSQLite
import TransferAPI

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
  mutating func int() throws -> Int { Int(try int64()) }
  mutating func uid() throws -> UInt32 {
    guard let uid = UInt32(exactly: try int64()) else { throw unreadable() }
    return uid
  }

  mutating func bool() throws -> Bool { try int64() != 0 }
  mutating func text() throws -> String { try required(optionalText()) }
  mutating func date() throws -> Date { Date(milliseconds: try int64()) }
  mutating func optionalDate() throws -> Date? { try optionalInt64().map(Date.init(milliseconds:)) }

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
      httpStatus: try optionalInt64().map(Int.init),
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

  init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Duration {
  var milliseconds: Int64 { storable(self / .milliseconds(1)) }
}

private func storable(_ milliseconds: Double) -> Int64 {
  Int64(min(max(milliseconds.rounded(), -8.64e15), 8.64e15))
}

/// 8 random hexadecimal digits.
func randomToken() -> String {
  let digits = String(UInt32.random(in: .min ... .max), radix: 16)
  return String(repeating: "0", count: 8 - digits.count) + digits
}
