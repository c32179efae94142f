public import FoundationEssentials
import GRDB
import TransferAPI

/// When waiting jobs may begin by the clock alone.
public struct WaitingTimes: Equatable, Sendable {
  /// The earliest retry later than now, of an origin that was not excluded; `nil`: there is none.
  public var nextRetry: Date?
  /// For each closed origin with waiting jobs: when its first job may begin once the origin is open. `now` where a job is queued
  /// or already due.
  public var closedOrigins: [String: Date]

  public init(nextRetry: Date? = nil, closedOrigins: [String: Date] = [:]) {
    self.nextRetry = nextRetry
    self.closedOrigins = closedOrigins
  }
}

extension Store {
  /// When waiting jobs may begin by the clock alone. Retries that are already due are not among the times: they are candidates,
  /// or wait for something else than the clock.
  /// - Parameters:
  ///   - excludedOrigins: origins whose retries do not count: closed ones, and those with as many transfers as they may have.
  ///   - closedOrigins: origins that open by the clock.
  public func waitingTimes(
    now: Date, excludingOrigins excludedOrigins: Set<String> = [], closedOrigins: Set<String> = []
  ) async throws(StoreError) -> WaitingTimes {
    try await read { db in
      var times = WaitingTimes()
      let excluded = try originIDs(excludedOrigins, db).keys
      let next: Int64?? = try db.row(Self.nextRetry) { bind in
        bind(now.milliseconds)
        bind(json(excluded))
      } read: {
        try $0.optionalInt64()
      }
      times.nextRetry = next.flatMap { $0 }.map(Date.init(milliseconds:))
      try Self.addMarked(to: &times, now: now, excludedOrigins, closedOrigins, db)
      guard !closedOrigins.isEmpty else { return times }
      let closed = try originIDs(closedOrigins, db)
      let retries = try db.rows(Self.firstRetries) { bind in
        bind(json(closed.keys))
      } read: {
        (origin: try $0.int64(), time: Date(milliseconds: try $0.int64()))
      }
      for retry in retries {
        let (name, time) = (closed[retry.origin] ?? "", max(retry.time, now))
        times.closedOrigins[name] = min(times.closedOrigins[name] ?? time, time)
      }
      let queued = try db.rows(Self.queuedOrigins) { bind in
        bind(json(closed.keys))
      } read: {
        try $0.int64()
      }
      for origin in queued { times.closedOrigins[closed[origin] ?? ""] = now }
      return times
    }
  }

  /// Those that are to run alone are few, and in none of the queue's indexes.
  private static func addMarked(
    to times: inout WaitingTimes, now: Date, _ excluded: Set<String>, _ closed: Set<String>, _ db: Database
  ) throws {
    let marked = try db.rows(markedTimes) { reader in
      (origin: try reader.text(), retry: try reader.optionalDate())
    }
    for (origin, retry) in marked {
      let time = max(retry ?? now, now)
      if closed.contains(origin) {
        times.closedOrigins[origin] = min(times.closedOrigins[origin] ?? time, time)
      } else if time > now, !excluded.contains(origin) {
        times.nextRetry = min(times.nextRetry ?? time, time)
      }
    }
  }

  static let nextRetry = """
    SELECT retry_at FROM job INDEXED BY job_retrying
    WHERE state = 'retrying' AND follows IS NULL AND crash_marks < 2 AND retry_at > ? AND origin_id NOT IN (SELECT value FROM json_each(?))
    ORDER BY retry_at LIMIT 1
    """

  /// One pass over the index, however many origins are closed.
  static let firstRetries = """
    SELECT origin_id, min(retry_at) FROM job INDEXED BY job_retrying
    WHERE state = 'retrying' AND follows IS NULL AND crash_marks < 2 AND origin_id IN (SELECT value FROM json_each(?))
    GROUP BY origin_id
    """

  static let queuedOrigins = """
    SELECT value FROM json_each(?) WHERE EXISTS (
      SELECT 1 FROM job INDEXED BY job_queued_origin
      WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2 AND origin_id = value)
    """
}

/// Row ids and names of the origins that the database knows.
private func originIDs(_ names: Set<String>, _ db: Database) throws -> [Int64: String] {
  let statement = try db.cachedStatement(sql: "SELECT id FROM origin WHERE name = ?")
  var ids: [Int64: String] = [:]
  for name in names {
    if let id = try Int64.fetchOne(statement, arguments: [name]) { ids[id] = name }
  }
  return ids
}

private func json(_ ids: some Sequence<Int64>) -> String { "[\(ids.map(String.init).joined(separator: ","))]" }
