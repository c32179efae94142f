public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// When waiting jobs may begin by the clock alone. Retries that are already due are not included: they are candidates, or wait
  /// for something other than the clock.
  /// - Parameters:
  ///   - excludedOrigins: origins whose retries are ignored: closed ones, and those with their maximum number of transfers.
  ///   - closedOrigins: origins that open at a certain time.
  public func waitingTimes(
    now: Date, excludingOrigins excludedOrigins: Set<String> = [], closedOrigins: Set<String> = []
  ) async throws(StoreError) -> WaitingTimes {
    try await read { db in
      var times = WaitingTimes()
      let excluded = try originIDs(excludedOrigins, db).keys
      times.nextRetry = try db.row(Self.nextRetry) { bind in
        bind("now", now)
        bind("excluded", jsonArray(excluded))
      } read: {
        try $0.date("retry_at")
      }
      try Self.addMarked(to: &times, now: now, excludedOrigins, closedOrigins, db)
      guard !closedOrigins.isEmpty else { return times }
      let closed = try originIDs(closedOrigins, db)
      let retries = try db.rows(Self.firstRetries) { bind in
        bind("origins", jsonArray(closed.keys))
      } read: {
        (origin: try $0.int64("origin_id"), time: try $0.date("retry_at"))
      }
      for retry in retries {
        let (name, time) = (closed[retry.origin] ?? "", max(retry.time, now))
        times.closedOrigins[name] = min(times.closedOrigins[name] ?? time, time)
      }
      let queued = try db.rows(Self.queuedOrigins) { bind in
        bind("origins", jsonArray(closed.keys))
      } read: {
        try $0.int64("origin_id")
      }
      for origin in queued { times.closedOrigins[closed[origin] ?? ""] = now }
      return times
    }
  }

  /// Adds the jobs that run alone. There are few of them, and they are in none of the queue's indexes.
  private static func addMarked(
    to times: inout WaitingTimes, now: Date, _ excluded: Set<String>, _ closed: Set<String>, _ db: Database
  ) throws {
    let marked = try db.rows(markedTimes) { row in
      (origin: try row.text("origin"), retry: try row.optionalDate("retry_at"))
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
    WHERE \(CandidateSelection.retrying) AND retry_at > :now
      AND origin_id NOT IN (SELECT value FROM json_each(:excluded))
    ORDER BY retry_at LIMIT 1
    """

  /// One pass over the index, however many origins are closed.
  static let firstRetries = """
    SELECT origin_id, min(retry_at) AS retry_at FROM job INDEXED BY job_retrying
    WHERE \(CandidateSelection.retrying)
      AND origin_id IN (SELECT value FROM json_each(:origins))
    GROUP BY origin_id
    """

  static let queuedOrigins = """
    SELECT value AS origin_id FROM json_each(:origins) WHERE EXISTS (
      SELECT 1 FROM job INDEXED BY job_queued_lane
      WHERE \(CandidateSelection.waiting) AND job.origin_id = value)
    """
}

/// Row ids and names of the origins that the database knows.
private func originIDs(_ names: Set<String>, _ db: Database) throws -> [Int64: String] {
  var ids: [Int64: String] = [:]
  for name in names {
    if let id = try db.originID(name) { ids[id] = name }
  }
  return ids
}
