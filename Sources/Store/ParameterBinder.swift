import FoundationEssentials
import GRDB
import GRDBSQLite
import Glibc
import TransferAPI

/// Binds values to the parameters of a statement by name: `bind("id", 7)` for `:id`.
///
/// GRDB binds by name too, from a dictionary of boxed values. This layer does without dictionary and boxes, because every job
/// passes it several times; docs/decisions/0007-rows-by-name.md has the measurement.
struct ParameterBinder {
  private let statement: OpaquePointer
  private let names: NamePositions
  private let count: Int32
  /// The parameter after the one bound last. Calls usually come in the statement's order, so that one comparison finds a name.
  private var next: Int32 = 1
  /// A bit for each parameter that was bound.
  private var bound: UInt64 = 0
  /// The first refusal of SQLite; `SQLITE_OK` while there is none.
  private var code = SQLITE_OK

  /// - Parameter names: those that earlier executions of the statement have found.
  init(_ statement: OpaquePointer, _ names: NamePositions) {
    self.statement = statement
    self.names = names
    count = sqlite3_bind_parameter_count(statement)
  }

  /// `SQLITE_RANGE` for a name that the statement does not have, and `SQLITE_MISUSE` unless each parameter was bound exactly
  /// once: a cached statement still has the values of its last execution.
  var verdict: Int32 {
    guard code == SQLITE_OK else { return code }
    return count <= 64 && bound.nonzeroBitCount == count ? SQLITE_OK : SQLITE_MISUSE
  }

  private mutating func bind(_ name: StaticString, _ body: (Int32) -> Int32) {
    guard let index = index(of: name) else {
      if code == SQLITE_OK { code = SQLITE_RANGE }
      return
    }
    let bit = UInt64(1) << UInt64(index - 1)
    let result = bound & bit == 0 ? body(index) : SQLITE_MISUSE
    bound |= bit
    if code == SQLITE_OK { code = result }
  }

  private mutating func index(of name: StaticString) -> Int32? {
    if names.isKnown(name, at: next) {
      defer { next = next % count + 1 }
      return next
    }
    for step in 0..<max(0, count) {
      // checked: parameters are counted from 1
      let index = (next - 1 + step) % count + 1
      // The name has its prefix: `:id`.
      if let other = sqlite3_bind_parameter_name(statement, index), name.isEqual(to: other + 1) {
        names.note(name, at: index)
        next = index % count + 1
        return index
      }
    }
    return nil
  }

  mutating func null(_ name: StaticString) { bind(name) { [statement] in sqlite3_bind_null(statement, $0) } }

  mutating func callAsFunction(_ name: StaticString, _ value: Int64) {
    bind(name) { [statement] in sqlite3_bind_int64(statement, $0, value) }
  }

  mutating func callAsFunction(_ name: StaticString, _ value: Double) {
    bind(name) { [statement] in sqlite3_bind_double(statement, $0, value) }
  }

  mutating func callAsFunction(_ name: StaticString, _ value: String) {
    var value = value
    bind(name) { [statement] index in
      value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { text in
          // An empty string has no address, and a null pointer would bind NULL.
          text.baseAddress.map {
            // With its 64-bit length: a longer text than SQLite takes is SQLITE_TOOBIG.
            sqlite3_bind_text64(statement, index, $0, UInt64(text.count), SQLITE_COPY, UInt8(SQLITE_UTF8))
          }
            ?? sqlite3_bind_text(statement, index, "", 0, SQLITE_COPY)
        }
      }
    }
  }

  mutating func callAsFunction(_ name: StaticString, _ value: Data) {
    bind(name) { [statement] index in
      value.withUnsafeBytes { bytes in
        bytes.baseAddress.map { sqlite3_bind_blob64(statement, index, $0, UInt64(bytes.count), SQLITE_COPY) }
          ?? sqlite3_bind_zeroblob(statement, index, 0)
      }
    }
  }

  mutating func callAsFunction(_ name: StaticString, _ value: Int) { self(name, Int64(value)) }
  mutating func callAsFunction(_ name: StaticString, _ value: UInt32) { self(name, Int64(value)) }
  mutating func callAsFunction(_ name: StaticString, _ value: Bool) { self(name, Int64(value ? 1 : 0)) }
  mutating func callAsFunction(_ name: StaticString, _ value: JobID) { self(name, value.rawValue) }
  /// Stored as milliseconds since 1970.
  mutating func callAsFunction(_ name: StaticString, _ value: Date) { self(name, value.milliseconds) }

  mutating func callAsFunction(_ name: StaticString, _ value: Int64?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: Int?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: Bool?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: String?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: Data?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: JobID?) { optional(name, value) { $0($1, $2) } }
  mutating func callAsFunction(_ name: StaticString, _ value: Date?) { optional(name, value) { $0($1, $2) } }

  private mutating func optional<Value>(
    _ name: StaticString, _ value: Value?, _ body: (inout ParameterBinder, StaticString, Value) -> Void
  ) {
    if let value { body(&self, name, value) } else { null(name) }
  }

  /// Binds `:batch` and `:owner`.
  mutating func batch(_ batch: BatchID) {
    self("batch", batch.name)
    self("owner", batch.owner)
  }

  /// Binds `:error_code`, `:error_message`, `:error_status` and `:error_transient`; all NULL for no failure.
  mutating func failure(_ failure: JobFailure?) {
    self("error_code", failure?.code.rawValue)
    self("error_message", failure?.message)
    self("error_status", failure?.httpStatus)
    self("error_transient", failure?.transient)
  }
}

/// Ids as a JSON array, for a parameter of `json_each`.
func jsonArray(_ ids: some Sequence<Int64>) -> String { "[\(ids.map(String.init).joined(separator: ","))]" }

extension StaticString {
  /// Compares with a C string.
  func isEqual(to other: UnsafePointer<CChar>) -> Bool {
    UnsafeRawPointer(utf8Start).withMemoryRebound(to: CChar.self, capacity: utf8CodeUnitCount + 1) {
      strcmp($0, other) == 0
    }
  }
}

/// SQLite copies the bytes before the call returns (`SQLITE_TRANSIENT`, a macro that Swift does not import). Unsafe by its
/// type alone: a constant, and never called.
private nonisolated(unsafe) let SQLITE_COPY = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
