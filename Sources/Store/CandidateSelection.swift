import FoundationEssentials
import GRDB
import TransferAPI

/// Finds what may be claimed, best first, without reading the queue from end to end.
///
/// Three ways, from the likely to the rare: a window at the head of the queue; each origin's own head, where
/// the window holds excluded origins only; the whole queue by index, where both many jobs and many origins
/// are waiting. An upload that follows another one to the same URL may not be claimed, and a job that is to run alone not beside
/// others: they are in none of the indexes.
struct CandidateSelection {
  /// Index entries that are passed before the second way is tried: under 2 ms.
  static let window = 10_000
  /// Origins that are looked at one by one before the third way is tried: about 10 ms.
  static let originLimit = 2_000

  private struct Found {
    var id: Int64
    var origin: Int64
    var priority: Int64

    init(_ reader: inout RowReader) throws {
      id = try reader.int64()
      origin = try reader.int64()
      priority = try reader.int64()
    }

    func isBefore(_ other: Found) -> Bool { (other.priority, id) < (priority, other.id) }
  }

  private let db: Database
  private let limit: Int
  /// Row ids of the excluded origins, as a JSON array.
  private let excluded: String
  private let isExcluding: Bool

  init(_ db: Database, excluding origins: Set<String>, limit: Int) throws {
    self.db = db
    self.limit = limit
    let statement = try db.cachedStatement(sql: "SELECT id FROM origin WHERE name = ?")
    let ids = try origins.compactMap { name in try Int64.fetchOne(statement, arguments: [name]) }
    excluded = "[\(ids.map(String.init).joined(separator: ","))]"
    isExcluding = !ids.isEmpty
  }

  func candidates(now: Date) throws -> [Candidate] {
    guard limit > 0 else { return [] }
    let found = try (queued() + due(now: now)).sorted { $0.isBefore($1) }.prefix(limit)
    var names: [Int64: String] = [:]
    return try found.map { found in
      let name = try names[found.origin] ?? originName(found.origin)
      names[found.origin] = name
      return Candidate(id: JobID(found.id), origin: name, priority: Int(found.priority))
    }
  }

  private func queued() throws -> [Found] {
    guard isExcluding else { return try fetch(Self.headOfQueue) { $0(limit) } }
    let head = try fetchExcluding(window: Self.window)
    if head.count == limit { return head }
    // Fewer than the window are waiting: that was all of them.
    let isWhole = try Int64.fetchOne(db.cachedStatement(sql: Self.isBeyond), arguments: [Self.window]) == nil
    if isWhole { return head }
    let statement = try db.cachedStatement(sql: Self.waitingOrigins)
    let origins = try Int64.fetchAll(statement, arguments: [excluded, Self.originLimit + 1])
    guard origins.count > Self.originLimit else { return try best(of: origins) }
    return try fetchExcluding(window: .max)
  }

  private func fetchExcluding(window: Int) throws -> [Found] {
    try fetch(Self.headOfQueueExcluding) { bind in
      bind(window)
      bind(excluded)
      bind(limit)
    }
  }

  /// Merges the heads of these origins' queues.
  private func best(of origins: [Int64]) throws -> [Found] {
    var best: [Found] = []
    for origin in origins {
      try db.each(Self.headOfOrigin) { bind in
        bind(origin)
        bind(limit)
      } body: { reader in
        let found = try Found(&reader)
        // Those that follow are no better.
        if best.count == limit, let worst = best.last, !found.isBefore(worst) { return false }
        let index = best.firstIndex { found.isBefore($0) } ?? best.endIndex
        best.insert(found, at: index)
        if best.count > limit { best.removeLast() }
        return true
      }
    }
    return best
  }

  private func due(now: Date) throws -> [Found] {
    try fetch(Self.dueRetries) { bind in
      bind(now.milliseconds)
      bind(excluded)
      bind(limit)
    }
  }

  private func fetch(_ sql: String, _ bind: (inout Binder) -> Void) throws -> [Found] {
    try db.rows(sql, bind) { try Found(&$0) }
  }

  private func originName(_ id: Int64) throws -> String {
    let statement = try db.cachedStatement(sql: "SELECT name FROM origin WHERE id = ?")
    return try String.fetchOne(statement, arguments: [id]) ?? ""
  }

  // MARK: - SQL

  static let headOfQueue = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2
    ORDER BY priority DESC, id LIMIT ?
    """

  static let headOfQueueExcluding = """
    SELECT id, origin_id, priority FROM (
      SELECT id, origin_id, priority FROM job INDEXED BY job_queued WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2
      ORDER BY priority DESC, id LIMIT ?)
    WHERE origin_id NOT IN (SELECT value FROM json_each(?))
    LIMIT ?
    """

  static let isBeyond = """
    SELECT 1 FROM job INDEXED BY job_queued WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2
    ORDER BY priority DESC, id LIMIT 1 OFFSET ?
    """

  /// Jumps from origin to origin by the index; jobs in between are not read.
  static let waitingOrigins = """
    WITH RECURSIVE waiting (id) AS (
      SELECT (SELECT min(origin_id) FROM job INDEXED BY job_queued_origin
        WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2)
      UNION ALL
      SELECT (SELECT min(origin_id) FROM job INDEXED BY job_queued_origin
        WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2 AND origin_id > waiting.id)
      FROM waiting WHERE waiting.id IS NOT NULL)
    SELECT id FROM waiting WHERE id IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?)) LIMIT ?
    """

  static let headOfOrigin = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued_origin
    WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2 AND origin_id = ? ORDER BY priority DESC, id LIMIT ?
    """

  static let dueRetries = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_retrying
    WHERE state = 'retrying' AND follows IS NULL AND crash_marks < 2 AND retry_at <= ? AND origin_id NOT IN (SELECT value FROM json_each(?))
    ORDER BY priority DESC, id LIMIT ?
    """
}
