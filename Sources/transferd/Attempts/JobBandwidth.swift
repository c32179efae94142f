import Store
import Synchronization
import TransferAPI
import TransferEngine

/// The limits of speed of the daemon, of origins, batches and jobs, as buckets of the engine's session. A change applies to
/// running transfers.
final class JobBandwidth: Sendable {
  private let limits: BandwidthLimits
  private let origins = Mutex(Origins())

  private struct Origins {
    var rules = OriginRules.none
    /// Origins whose buckets have a limit.
    var limited: Set<String> = []
  }

  init(_ session: Session) { limits = session.bandwidth }

  /// Call this before the job's transfers begin.
  /// - Returns: the buckets of its requests.
  func begin(_ record: JobRecord) -> [String] {
    let spec = record.spec
    if let rate = spec.options.limitRate { setLimit(rate, of: record.job.id, spec.kind) }
    return buckets(of: record, at: spec.origin)
  }

  /// - Returns: the buckets of the job's requests to an origin.
  func buckets(of record: JobRecord, at origin: String) -> [String] {
    limitOrigin(origin)
    var names = [Self.name(record.job.id), Self.name(origin: origin)]
    if let batch = record.spec.batchID { names.append(Self.name(batch)) }
    return names
  }

  /// - Parameter rate: bytes per second; `nil`: no limit.
  func setLimit(_ rate: Int64?, of job: JobID, _ kind: JobKind) {
    let limit = kind != .upload ? BandwidthLimit(down: rate) : BandwidthLimit(up: rate)
    limits.setLimit(limit, ofBucket: Self.name(job))
  }

  /// The job's transfers have ended.
  func removeLimit(of job: JobID) { limits.setLimit(.none, ofBucket: Self.name(job)) }

  func setLimit(_ rate: Int64?, of batch: BatchID) {
    limits.setLimit(BandwidthLimit(down: rate, up: rate), ofBucket: Self.name(batch))
  }

  func setDaemonLimit(_ limit: BandwidthLimit) { limits.setLimit(limit) }

  /// - Parameter running: origins with transfers.
  func setRules(_ rules: OriginRules, running: some Sequence<String>) {
    let former = origins.withLock { origins in
      defer { (origins.rules, origins.limited) = (rules, []) }
      return origins.limited
    }
    for origin in former.union(running) { limitOrigin(origin, former) }
  }

  /// The origin has no transfers any more.
  func forget(_ origin: String) {
    guard origins.withLock({ $0.limited.remove(origin) }) != nil else { return }
    limits.setLimit(.none, ofBucket: Self.name(origin: origin))
  }

  private func limitOrigin(_ origin: String, _ former: Set<String> = []) {
    let rate = origins.withLock { origins -> Int64?? in
      guard !origins.rules.isEmpty || former.contains(origin) else { return nil }
      let rate = origins.rules.rule(for: origin)?.limitRate
      if rate != nil { origins.limited.insert(origin) }
      return rate != nil || former.contains(origin) ? .some(rate) : nil
    }
    guard let rate else { return }
    limits.setLimit(BandwidthLimit(down: rate, up: rate), ofBucket: Self.name(origin: origin))
  }

  // Names of the three kinds cannot be equal.
  private static func name(_ job: JobID) -> String { "job \(job)" }
  private static func name(_ batch: BatchID) -> String { "batch \(batch.owner) \(batch.name)" }
  private static func name(origin: String) -> String { "origin \(origin)" }
}
