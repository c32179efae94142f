import Store
import TransferAPI

/// Decides which waiting jobs may start now. Pure.
struct Admission: Equatable, Sendable {
  /// What `maxActive` and `maxPerOrigin` may be.
  static let range = 1...10_000

  /// Maximum number of concurrent transfers.
  var maxActive: Int
  /// Maximum number of concurrent transfers with one origin.
  var maxPerOrigin: PerOriginLimit
  /// What the configuration says about some origins; a `maxActive` there replaces `maxPerOrigin`.
  var origins = OriginRules.none
  /// Maximum number of concurrent transfers of some batches.
  var batches: [BatchID: Int] = [:]

  /// The number of running transfers, in total, for each origin and for each batch.
  struct Load: Equatable, Sendable {
    /// Claimed jobs, also those that wait for a connection (``ClaimAhead``).
    var claimed = 0
    var perOrigin: [String: Int] = [:]
    var perBatch: [BatchID: Int] = [:]
    /// The most of an origin's claimed jobs that transfer now, where they are fewer.
    var connections: [String: Int] = [:]
    /// What `connections` falls to while transfers end: no other one takes their connections above this.
    var connectionLimits: [String: Int] = [:]

    /// Transfers: what `maxActive` limits.
    var total: Int {
      connections.reduce(claimed) { total, origin in
        total - max(0, perOrigin[origin.key, default: 0] - origin.value)  // checked: counts running jobs
      }
    }

    mutating func add(_ origin: String, _ batch: BatchID? = nil) {
      claimed += 1  // checked: counts running jobs
      perOrigin[origin, default: 0] += 1
      if let batch { perBatch[batch, default: 0] += 1 }
    }

    mutating func remove(_ origin: String, _ batch: BatchID? = nil) {
      claimed -= 1  // checked: counts running jobs
      if let batch, let count = perBatch[batch] { perBatch[batch] = count > 1 ? count - 1 : nil }
      guard let count = perOrigin[origin] else { return }
      perOrigin[origin] = count > 1 ? count - 1 : nil
    }
  }

  /// Removes the jobs that may start from the window, in its order.
  /// - Parameters:
  ///   - capacity: the number of concurrent transfers that an origin can have now; `maxPerOrigin` is a further bound.
  ///   - lastProbes: for each origin that is only probed, the job that probed it last. The job with the next id probes it
  ///     now, so an outage uses the attempts of all jobs evenly, not those of the first few.
  func pick(
    from window: inout CandidateWindow, load: Load, capacity: (String) -> Int, lastProbes: [String: JobID] = [:]
  ) -> [JobID] {
    guard load.total < maxActive else { return [] }
    var load = load
    let nextProbes = lastProbes.reduce(into: [String: JobID]()) { nextProbes, probe in
      let ids = window.ids(of: probe.key)
      nextProbes[probe.key] = ids.filter { $0 > probe.value }.min() ?? ids.min()
    }
    let picked = window.take(saturated(load, capacity: capacity)) { candidate in
      guard load.total < maxActive else { return .stop }
      guard !isFull(candidate.batch, load) else { return .skip }
      if let probe = nextProbes[candidate.origin], probe != candidate.id { return .skip }
      let limit = bounded(capacity(candidate.origin), of: candidate.origin)
      guard load.perOrigin[candidate.origin, default: 0] < limit else { return .originIsFull }
      load.add(candidate.origin, candidate.batch)
      return .take
    }
    return picked.map(\.id)
  }

  /// The capacity within a fixed `maxPerOrigin`, or within the `maxActive` of the origin's rule.
  func bounded(_ capacity: Int, of origin: String) -> Int {
    if let limit = origins.rule(for: origin)?.maxActive { return min(limit, capacity) }
    return switch maxPerOrigin {
    case .automatic: capacity
    case .fixed(let limit): min(limit, capacity)
    }
  }

  /// The job to run in isolation: the first candidate if no attempt is under way. Call it only when no other job can start
  /// now. Jobs that wait for a retry time or for their server do not prevent isolation.
  /// - Parameter running: the number of attempts under way, including those that only verify and rename their files.
  static func pickIsolated(from candidates: [Candidate], running: Int) -> JobID? {
    running == 0 ? candidates.first?.id : nil
  }

  /// How long an isolated job may block all others: 10 minutes, doubled for each further crash mark up to about 21 hours. A
  /// large file must not block the queue for hours, and a job that crashes the daemon late gets a longer limit each time.
  static func isolationLimit(crashMarks marks: Int) -> Duration {
    .seconds(600 << min(max(0, marks - JobRecord.marksToRunAlone), 7))
  }

  /// The origins that have reached their limit.
  func saturated(_ load: Load, capacity: (String) -> Int) -> Set<String> {
    Set(load.perOrigin.filter { $0.value >= bounded(capacity($0.key), of: $0.key) }.keys)
  }

  /// Whether the batch has as many transfers as it may have.
  func isFull(_ batch: BatchID?, _ load: Load) -> Bool {
    guard let batch, let limit = batches[batch] else { return false }
    return load.perBatch[batch, default: 0] >= limit
  }

  /// The batches that have reached their limit.
  func fullBatches(_ load: Load) -> Set<BatchID> { Set(batches.keys.filter { isFull($0, load) }) }
}
