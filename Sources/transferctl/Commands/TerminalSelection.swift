import TransferAPI

/// The jobs that `status` shows on a terminal: all of them if there are few, else running jobs, failed jobs, and those
/// that start next.
struct TerminalSelection {
  /// The queries, in the order in which their jobs are shown.
  let queries: [JobQuery]
  /// The number of jobs that match; `nil` if it is not known.
  private(set) var total: Int?

  /// Rows without `--limit`.
  static let rows = 200

  init(queries: [JobQuery]) { self.queries = queries }

  /// Asks the daemon for the number of jobs.
  init(_ query: JobQuery, _ client: ControlClient) async throws {
    let counts =
      if let batch = query.batch { try await client.batch(batch).batch.counts } else { try await client.stats().counts }
    self.init(query, counts)
  }

  /// - Parameter counts: the counts of the jobs that match the query, in all states.
  init(_ query: JobQuery, _ counts: StateCounts) {
    let total = query.state.map { counts[$0] } ?? counts.total
    self.total = total
    let limit = query.limit ?? Self.rows
    var whole = query
    whole.limit = limit
    guard total > limit, query.order == nil, query.state == nil else {
      queries = [whole]
      return
    }
    var left = limit
    queries = Self.priorities.compactMap { state, order in
      let rows = min(left, counts[state])
      guard rows > 0 else { return nil }
      left -= rows  // checked: at most what is left
      var part = query
      (part.state, part.order, part.limit) = (state, order, rows)
      return part
    }
  }

  /// Running and failed jobs, then those that come next.
  private static let priorities: [(JobState, JobOrder)] = [
    (.running, .id), (.failed, .newest), (.retrying, .priority), (.queued, .priority), (.paused, .priority),
    (.cancelled, .newest), (.completed, .newest),
  ]
}
