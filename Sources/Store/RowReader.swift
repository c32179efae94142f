import FoundationEssentials
import GRDB
import TransferAPI

/// Reads a row's columns from left to right. A value of the wrong type is an error that names the row: it is
/// neither skipped nor trapped on.
struct RowReader {
  /// What the row is, for the error.
  var subject = "a row"
  private let row: Row
  private var index = 0

  init(_ row: Row) { self.row = row }

  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  private mutating func next() -> DatabaseValue.Storage {
    defer { index += 1 }
    return (row[index] as DatabaseValue).storage
  }

  private func unreadable() -> Unreadable {
    let column: String = Array(row.columnNames)[index - 1]
    return Unreadable(description: "\(subject) has an unreadable \(column)")
  }

  mutating func skip() { index += 1 }

  mutating func optionalInt64() throws -> Int64? {
    switch next() {
    case .int64(let value): value
    case .null: nil
    default: throw unreadable()
    }
  }

  mutating func optionalDouble() throws -> Double? {
    switch next() {
    case .double(let value): value
    case .int64(let value): Double(value)
    case .null: nil
    default: throw unreadable()
    }
  }

  mutating func optionalText() throws -> String? {
    switch next() {
    case .string(let value): value
    case .null: nil
    default: throw unreadable()
    }
  }

  mutating func optionalData() throws -> Data? {
    switch next() {
    case .blob(let value): value
    case .null: nil
    default: throw unreadable()
    }
  }

  mutating func int64() throws -> Int64 { try required(optionalInt64()) }
  mutating func int() throws -> Int { Int(try int64()) }
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
