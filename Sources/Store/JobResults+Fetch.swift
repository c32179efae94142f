import GRDB
import TransferAPI

extension JobResults {
  /// Of a batch; an empty name stands for all jobs of the owner.
  /// - Parameter completed: the number of its completed jobs.
  static func fetch(_ db: Database, of completed: Int, batch: BatchID) throws -> JobResults {
    try fetch(db, completed, "batch = :batch AND owner = :owner") { $0.batch(batch) }
  }

  /// Of all jobs in scope.
  static func fetch(_ db: Database, of completed: Int, in scope: Scope) throws -> JobResults {
    switch scope {
    case .owner(let uid): try fetch(db, of: completed, batch: BatchID(owner: uid, name: ""))
    case .everything: try fetch(db, completed, "batch = ''") { _ in }
    }
  }

  private static func fetch(
    _ db: Database, _ completed: Int, _ condition: String, _ bind: (inout ParameterBinder) -> Void
  ) throws -> JobResults {
    var results = JobResults()
    try db.each("SELECT result, jobs FROM result_count WHERE \(condition)", bind) { row in
      results[try row.word("result")] += try row.int("jobs")
      return true
    }
    return JobResults(completed: completed, unchanged: results.unchanged, skipped: results.skipped)
  }
}
