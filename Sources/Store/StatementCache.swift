import GRDB

/// The prepared statements of the writing connection, found by the address of their text, so that a long text is not hashed
/// for each row.
///
/// Used on the writing thread only. It must be gone before the connection is closed.
final class StatementCache {
  private let db: Database
  private var statements: [UnsafePointer<UInt8>: PreparedStatement] = [:]

  init(_ db: Database) { self.db = db }

  /// - Parameter sql: a literal, because the cache identifies a text by its address.
  func statement(_ sql: StaticString) throws -> PreparedStatement {
    if let statement = statements[sql.utf8Start] { return statement }
    let statement = try PreparedStatement(db, sql.description)
    statements[sql.utf8Start] = statement
    return statement
  }
}
