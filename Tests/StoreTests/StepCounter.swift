import GRDB
import GRDBSQLite

/// Counts the steps of SQLite's virtual machine (`sqlite3_progress_handler`).
enum StepCounter {
  /// The steps that `body` takes on `db`. Only one at a time may count on a connection.
  static func steps(of db: Database, _ body: () throws -> Void) throws -> Int {
    var count = 0
    try withUnsafeMutablePointer(to: &count) { count in
      sqlite3_progress_handler(
        db.sqliteConnection, 1,
        { context in
          context?.assumingMemoryBound(to: Int.self).pointee += 1
          return 0
        }, count)
      defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
      try body()
    }
    return count
  }
}
