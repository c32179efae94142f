import GRDB
import GRDBSQLite

/// A statement of one connection, for many executions: the connection's cache is asked once, not for each row.
///
/// Valid on the thread that has the connection, as long as the connection is open.
struct PreparedStatement {
  private let db: Database
  private let statement: Statement
  private let parameters = NamePositions()
  private let columns = NamePositions()

  /// Prepares the statement, or finds it in the connection's cache.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
  }

  /// Executes the statement.
  func run(_ bind: (inout ParameterBinder) -> Void = { _ in }) throws {
    try stepping(bind) { statement in
      var code = sqlite3_step(statement)
      while code == SQLITE_ROW { code = sqlite3_step(statement) }
      return code
    }
  }

  /// Each row, as `read` returns it.
  func rows<Value>(
    _ bind: (inout ParameterBinder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try each(bind) { reader in
      values.append(try read(&reader))
      return true
    }
    return values
  }

  /// The first row, as `read` returns it; `nil`: there is none.
  func row<Value>(
    _ bind: (inout ParameterBinder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try each(bind) { reader in
      value = try read(&reader)
      return false
    }
    return value
  }

  /// The row that `:id`, the only parameter, selects; `nil`: there is none.
  func row<Value>(id: Int64, read: (inout RowReader) throws -> Value) throws -> Value? {
    try row({ $0("id", id) }, read: read)
  }

  /// Calls `body` with each row until it returns `false`.
  func each(
    _ bind: (inout ParameterBinder) -> Void = { _ in }, body: (inout RowReader) throws -> Bool
  ) throws {
    try stepping(bind) { statement in
      while true {
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else { return code }
        var reader = RowReader(statement, columns)
        guard try body(&reader) else { return SQLITE_DONE }
      }
    }
  }

  private func stepping(
    _ bind: (inout ParameterBinder) -> Void, _ step: (OpaquePointer) throws -> Int32
  ) throws {
    let pointer = statement.sqliteStatement
    var binder = ParameterBinder(pointer, parameters)
    bind(&binder)
    defer { sqlite3_reset(pointer) }
    let verdict = binder.verdict
    guard verdict == SQLITE_OK else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: verdict), message: "the parameters of a statement cannot be bound",
        sql: statement.sql)
    }
    let code = try step(pointer)
    guard code == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code),
        message: db.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }, sql: statement.sql)
    }
  }
}

extension Database {
  /// Executes a statement, prepared once a connection.
  func run(_ sql: String, _ bind: (inout ParameterBinder) -> Void = { _ in }) throws {
    try PreparedStatement(self, sql).run(bind)
  }

  /// Each row, as `read` returns it.
  func rows<Value>(
    _ sql: String, _ bind: (inout ParameterBinder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    try PreparedStatement(self, sql).rows(bind, read: read)
  }

  /// The first row, as `read` returns it; `nil`: there is none.
  func row<Value>(
    _ sql: String, _ bind: (inout ParameterBinder) -> Void = { _ in }, read: (inout RowReader) throws -> Value
  ) throws -> Value? {
    try PreparedStatement(self, sql).row(bind, read: read)
  }

  /// The row that `:id`, the only parameter, selects; `nil`: there is none.
  func row<Value>(_ sql: String, id: Int64, read: (inout RowReader) throws -> Value) throws -> Value? {
    try PreparedStatement(self, sql).row(id: id, read: read)
  }

  /// Calls `body` with each row until it returns `false`.
  func each(
    _ sql: String, _ bind: (inout ParameterBinder) -> Void = { _ in }, body: (inout RowReader) throws -> Bool
  ) throws {
    try PreparedStatement(self, sql).each(bind, body: body)
  }
}
