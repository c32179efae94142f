import GRDB

/// The statements of one transaction, found by the address of their text. The text of a long statement need not be hashed for
/// each row.
///
/// Used on the writing thread only.
final class StatementCache {
  private let db: Database
  private var statements: [UnsafePointer<UInt8>: PreparedStatement] = [:]

  init(_ db: Database) { self.db = db }

  /// - Parameter sql: a literal: its address stands for its text.
  func statement(_ sql: StaticString) throws -> PreparedStatement {
    if let statement = statements[sql.utf8Start] { return statement }
    let statement = try PreparedStatement(db, sql.description)
    statements[sql.utf8Start] = statement
    return statement
  }
}
