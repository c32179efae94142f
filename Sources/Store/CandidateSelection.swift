import FoundationEssentials
import GRDB
import TransferAPI

/// Finds the jobs that may be claimed, without reading the whole queue. Batches of one priority take turns (`ShareSelection`).
///
/// If that leaves jobs out because most jobs are of excluded origins, the best of all jobs are found as well. Three ways, from the
/// common to the rare: a window at the head of the queue; the heads of the *lanes*, if the window holds only
/// excluded origins, or if batches are excluded; the whole queue by index, if both many jobs and many lanes are waiting. A lane
/// has the jobs of one origin and one batch. Uploads that are blocked by
/// another upload, and jobs that run alone, are in none of the indexes.
struct CandidateSelection {
  /// Number of index entries that are read before the second way is taken: under 2 ms.
  static let window = 10_000
  /// Lanes that are examined one by one before the third way is tried: about 10 ms.
  static let laneLimit = 2_000

  private struct Found {
    var id: Int64
    var origin: Int64
    var priority: Int64
    /// `nil`: not read yet.
    var share: BatchID?

    init(_ row: inout RowReader) throws {
      id = try row.int64("id")
      origin = try row.int64("origin_id")
      priority = try row.int64("priority")
    }

    init(_ found: ShareSelection.Found) {
      (id, origin, priority, share) = (found.id.rawValue, found.origin, found.priority, found.share)
    }

    func isBefore(_ other: Found) -> Bool { (other.priority, id) < (priority, other.id) }
  }

  private let db: Database
  private let limit: Int
  /// Row ids of the excluded origins, as a JSON array.
  private let excluded: String
  private let isExcluding: Bool
  private let excludedLanes: Set<String>
  private let excludedOrigins: Set<Int64>
  private let cursor: String?

  private struct Lane {
    let origin: Int64
    let batch: String
  }

  /// - Parameter cursor: where the last search stopped among the shares of the highest priority.
  init(
    _ db: Database, excluding origins: Set<String>, batches: Set<BatchID> = [], cursor: String? = nil, limit: Int
  ) throws {
    self.db = db
    self.limit = limit
    let ids = try origins.compactMap(db.originID)
    excluded = jsonArray(ids)
    isExcluding = !ids.isEmpty
    excludedOrigins = Set(ids)
    self.cursor = cursor
    excludedLanes = Set(batches.map(\.lane))
  }

  func candidates(now: Date) throws -> [Candidate] { try page(now: now).candidates }

  /// - Returns: the candidates, highest priority first, then by id; and where the next search begins.
  func page(now: Date) throws -> CandidatePage {
    guard limit > 0 else { return CandidatePage() }
    let shares = try ShareSelection(
      db: db, limit: limit, excludedOrigins: excludedOrigins, excludedShares: excludedLanes, cursor: cursor
    ).result()
    var found = shares.found.map(Found.init)
    if shares.isCut {
      let known = Set(found.map(\.id))
      found += try best().filter { !known.contains($0.id) }
    }
    found += try due(now: now)
    for index in found.indices where found[index].share == nil {
      found[index].share = try db.share(of: found[index].id)
    }
    var names: [Int64: String] = [:]
    let candidates = try Self.first(limit, of: found).map { found in
      let name = try names[found.origin] ?? db.originName(found.origin)
      names[found.origin] = name
      let batch = found.share.flatMap { $0.name.isEmpty ? nil : $0 }
      return Candidate(
        id: JobID(found.id), origin: name, priority: Int(found.priority), batch: batch, owner: found.share?.owner ?? 0)
    }
    return CandidatePage(candidates: candidates, cursor: shares.cursor)
  }

  /// As many as the limit, of which each share of a priority has as many as the others.
  private static func first(_ limit: Int, of found: [Found]) -> [Found] {
    let sorted = found.sorted { $0.isBefore($1) }
    guard sorted.count > limit else { return sorted }
    var counts: [BatchID?: Int] = [:]
    var ranked: [(found: Found, rank: Int)] = []
    var priority: Int64?
    for found in sorted {
      if found.priority != priority { counts = [:] }
      priority = found.priority
      let rank = counts[found.share, default: 0]
      counts[found.share] = rank + 1
      ranked.append((found, rank))
    }
    // A stable order: by priority, rank and id.
    ranked.sort { ($1.found.priority, $0.rank, $0.found.id) < ($0.found.priority, $1.rank, $1.found.id) }
    return ranked.prefix(limit).map(\.found).sorted { $0.isBefore($1) }
  }

  /// The best of all jobs, whatever their shares.
  private func best() throws -> [Found] {
    if excludedLanes.isEmpty {
      guard isExcluding else { return try fetch(Self.headOfQueue) { $0("limit", limit) } }
      let head = try fetchExcluding(window: Self.window)
      if head.count == limit { return head }
      let isWhole = try fetch(Self.beyondWindow) { $0("window", Self.window) }.isEmpty
      // Fewer jobs wait than the window holds, so `head` is all of them.
      if isWhole { return head }
    }
    if let lanes = try lanes() { return try best(of: lanes) }
    return excludedLanes.isEmpty ? try fetchExcluding(window: .max) : try fetchExcludingLanes()
  }

  /// The lanes with waiting jobs, without the excluded ones; `nil` if there are too many.
  private func lanes() throws -> [Lane]? {
    let origins = try db.rows(Self.waitingOrigins) { bind in
      bind("excluded", excluded)
      bind("limit", Self.laneLimit + 1)
    } read: {
      try $0.int64("id")
    }
    guard origins.count <= Self.laneLimit else { return nil }
    let (first, next) = (try PreparedStatement(db, Self.firstLane), try PreparedStatement(db, Self.nextLane))
    var lanes: [Lane] = []
    var seen = 0
    for origin in origins {
      var lane = try first.row {
        $0("origin", origin)
      } read: {
        try $0.text("lane")
      }
      while let batch = lane {
        seen += 1
        guard seen <= Self.laneLimit else { return nil }
        if !excludedLanes.contains(batch) { lanes.append(Lane(origin: origin, batch: batch)) }
        lane = try next.row { bind in
          bind("origin", origin)
          bind("lane", batch)
        } read: {
          try $0.text("lane")
        }
      }
    }
    return lanes
  }

  private func fetchExcludingLanes() throws -> [Found] {
    let lanes = try lanesJSON()
    return try fetch(Self.queueExcludingLanes) { bind in
      bind("excluded", excluded)
      bind("lanes", lanes)
      bind("limit", limit)
    }
  }

  private func lanesJSON() throws -> String {
    String(decoding: try JSONEncoder().encode(excludedLanes.sorted()), as: UTF8.self)
  }

  private func fetchExcluding(window: Int) throws -> [Found] {
    try fetch(Self.headOfQueueExcluding) { bind in
      bind("window", window)
      bind("excluded", excluded)
      bind("limit", limit)
    }
  }

  /// Merges the heads of these lanes.
  private func best(of lanes: [Lane]) throws -> [Found] {
    var best: [Found] = []
    let head = try PreparedStatement(db, Self.headOfLane)
    for lane in lanes {
      try head.each { bind in
        bind("origin", lane.origin)
        bind("lane", lane.batch)
        bind("limit", limit)
      } body: { row in
        let found = try Found(&row)
        // The jobs behind it are not better.
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
    let lanes = try lanesJSON()
    return try fetch(Self.dueRetries) { bind in
      bind("now", now)
      bind("excluded", excluded)
      bind("lanes", lanes)
      bind("limit", limit)
    }
  }

  private func fetch(_ sql: String, _ bind: (inout ParameterBinder) -> Void) throws -> [Found] {
    try db.rows(sql, bind) { try Found(&$0) }
  }

  // MARK: - SQL

  /// A queued job that nothing but a free slot keeps from beginning: the condition of the indexes `job_queued`,
  /// `job_queued_lane` and `job_queued_share`, which SQLite uses only for a query with the same terms.
  static let waiting = """
    state = 'queued' AND blocked_by IS NULL AND crash_marks < 2 AND waits_until IS NULL \
    AND closed_until IS NULL AND open_dependencies = 0
    """

  /// The condition of the index `job_retrying`.
  static let retrying = "state = 'retrying' AND blocked_by IS NULL AND crash_marks < 2 AND closed_until IS NULL"

  static let headOfQueue = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued
    WHERE \(waiting)
    ORDER BY priority DESC, id LIMIT :limit
    """

  static let headOfQueueExcluding = """
    SELECT id, origin_id, priority FROM (
      SELECT id, origin_id, priority FROM job INDEXED BY job_queued
      WHERE \(waiting)
      ORDER BY priority DESC, id LIMIT :window)
    WHERE origin_id NOT IN (SELECT value FROM json_each(:excluded))
    LIMIT :limit
    """

  static let beyondWindow = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued
    WHERE \(waiting)
    ORDER BY priority DESC, id LIMIT 1 OFFSET :window
    """

  /// Jumps from origin to origin by the index; jobs in between are not read.
  static let waitingOrigins = """
    WITH RECURSIVE waiting (id) AS (
      SELECT (SELECT min(origin_id) FROM job INDEXED BY job_queued_lane
        WHERE \(waiting))
      UNION ALL
      SELECT (SELECT min(origin_id) FROM job INDEXED BY job_queued_lane
        WHERE \(waiting) AND origin_id > waiting.id)
      FROM waiting WHERE waiting.id IS NOT NULL)
    SELECT id FROM waiting WHERE id IS NOT NULL AND id NOT IN (SELECT value FROM json_each(:excluded)) LIMIT :limit
    """

  static let firstLane = """
    SELECT ifnull(owner || ' ' || batch, '') AS lane FROM job INDEXED BY job_queued_lane
    WHERE \(waiting) AND origin_id = :origin
    ORDER BY ifnull(owner || ' ' || batch, '') LIMIT 1
    """

  static let nextLane = """
    SELECT ifnull(owner || ' ' || batch, '') AS lane FROM job INDEXED BY job_queued_lane
    WHERE \(waiting) AND origin_id = :origin
      AND ifnull(owner || ' ' || batch, '') > :lane
    ORDER BY ifnull(owner || ' ' || batch, '') LIMIT 1
    """

  static let headOfLane = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued_lane
    WHERE \(waiting) AND origin_id = :origin
      AND ifnull(owner || ' ' || batch, '') = :lane
    ORDER BY priority DESC, id LIMIT :limit
    """

  /// Reads the queue in its order until there are enough jobs.
  static let queueExcludingLanes = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_queued
    WHERE \(waiting)
      AND origin_id NOT IN (SELECT value FROM json_each(:excluded))
      AND ifnull(owner || ' ' || batch, '') NOT IN (SELECT value FROM json_each(:lanes))
    ORDER BY priority DESC, id LIMIT :limit
    """

  static let dueRetries = """
    SELECT id, origin_id, priority FROM job INDEXED BY job_retrying
    WHERE \(retrying) AND retry_at <= :now
      AND origin_id NOT IN (SELECT value FROM json_each(:excluded))
      AND ifnull(owner || ' ' || batch, '') NOT IN (SELECT value FROM json_each(:lanes))
    ORDER BY priority DESC, id LIMIT :limit
    """
}
