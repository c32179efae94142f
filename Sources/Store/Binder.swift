import FoundationEssentials
import GRDB
import GRDBSQLite
import TransferAPI

/// Gives a statement its values, from its first `?` to its last. What every job passes several times goes this way:
/// no array, no boxes, no dictionary of column names.
struct Binder {
  private let statement: OpaquePointer
  private var index: Int32 = 0
  /// The first refusal, `SQLITE_OK` while there is none.
  private(set) var code = SQLITE_OK

  fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

  private mutating func note(_ result: Int32) { if code == SQLITE_OK { code = result } }

  mutating func null() {
    index += 1
    note(sqlite3_bind_null(statement, index))
  }

  mutating func callAsFunction(_ value: Int64) {
    index += 1
    note(sqlite3_bind_int64(statement, index, value))
  }

  mutating func callAsFunction(_ value: Int) { self(Int64(value)) }
  mutating func callAsFunction(_ value: Bool) { self(Int64(value ? 1 : 0)) }

  mutating func callAsFunction(_ value: Double) {
    index += 1
    note(sqlite3_bind_double(statement, index, value))
  }

  mutating func callAsFunction(_ value: String) {
    index += 1
    var value = value
    let result = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        // An empty string has no address, and a null pointer would bind NULL.
        text.baseAddress.map {
          // With its 64-bit length: a longer text than SQLite takes is SQLITE_TOOBIG.
          sqlite3_bind_text64(statement, index, $0, UInt64(text.count), SQLITE_COPY, UInt8(SQLITE_UTF8))
        }
          ?? sqlite3_bind_text(statement, index, "", 0, SQLITE_COPY)
      }
    }
    note(result)
  }

  mutating func callAsFunction(_ value: Data) {
    index += 1
    let result = value.withUnsafeBytes { bytes in
      bytes.baseAddress.map { sqlite3_bind_blob64(statement, index, $0, UInt64(bytes.count), SQLITE_COPY) }
        ?? sqlite3_bind_zeroblob(statement, index, 0)
    }
    note(result)
  }

  mutating func callAsFunction(_ value: Int64?) { if let value { self(value) } else { null() } }
  mutating func callAsFunction(_ value: Int?) { if let value { self(value) } else { null() } }
  mutating func callAsFunction(_ value: Bool?) { if let value { self(value) } else { null() } }
  mutating func callAsFunction(_ value: Double?) { if let value { self(value) } else { null() } }
  mutating func callAsFunction(_ value: String?) { if let value { self(value) } else { null() } }
  mutating func callAsFunction(_ value: Data?) { if let value { self(value) } else { null() } }

  /// Four columns: code, message, status, transient; all NULL for none.
  mutating func callAsFunction(_ failure: JobFailure?) {
    self(failure?.code.rawValue)
    self(failure?.message)
    self(failure?.httpStatus)
    self(failure?.transient)
  }
}

/// SQLite copies the bytes before the call returns (`SQLITE_TRANSIENT`, a macro that Swift does not import). Unsafe by its
/// type alone: a constant, and never called.
private nonisolated(unsafe) let SQLITE_COPY = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension Database {
  /// Executes a statement, prepared once a connection.
  func run(_ sql: String, _ bind: (inout Binder) -> Void = { _ in }) throws {
    try stepping(sql, bind) { statement in
      var code = sqlite3_step(statement)
      while code == SQLITE_ROW { code = sqlite3_step(statement) }
      return code
    }
  }

  /// What `read` makes of each row.
  func rows<Value>(
    _ sql: String, _ bind: (inout Binder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try each(sql, bind) { reader in
      values.append(try read(&reader))
      return true
    }
    return values
  }

  /// What `read` makes of the first row; `nil` where there is none.
  func row<Value>(
    _ sql: String, _ bind: (inout Binder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try each(sql, bind) { reader in
      value = try read(&reader)
      return false
    }
    return value
  }

  /// Calls `body` with each row until it answers `false`.
  func each(
    _ sql: String, _ bind: (inout Binder) -> Void = { _ in }, body: (inout RowReader) throws -> Bool
  ) throws {
    try stepping(sql, bind) { statement in
      while true {
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else { return code }
        var reader = RowReader(statement)
        guard try body(&reader) else { return SQLITE_DONE }
      }
    }
  }

  private func stepping(
    _ sql: String, _ bind: (inout Binder) -> Void, _ step: (OpaquePointer) throws -> Int32
  ) throws {
    let statement = try cachedStatement(sql: sql).sqliteStatement
    var binder = Binder(statement)
    bind(&binder)
    defer { sqlite3_reset(statement) }
    let code = binder.code == SQLITE_OK ? try step(statement) : binder.code
    guard code == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code), message: sqliteConnection.map { String(cString: sqlite3_errmsg($0)) },
        sql: sql)
    }
  }
}
