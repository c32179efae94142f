import FoundationEssentials

/// The further connections of downloads that are fetched in segments. They use what the limits leave: jobs go first, and a job
/// that starts does not wait for them.
extension JobQueue {
  /// Whether a running download may have one more connection with this origin.
  mutating func acquireConnection(with origin: String, now: Date) -> Bool {
    let (admission, further) = (limits.admission, furtherConnections)
    let total = load.total + further.total  // checked: counts connections
    // checked: counts connections
    let ofOrigin = load.perOrigin[origin, default: 0] + further.perOrigin[origin, default: 0]
    guard !isStopping, total < admission.maxActive,
      ofOrigin < admission.bounded(capacityRule(now: now)(origin), of: origin)
    else { return false }
    furtherConnections.add(origin)
    return true
  }

  /// One of them has ended.
  mutating func releaseConnection(with origin: String) { furtherConnections.remove(origin) }
}

extension Scheduler {
  func acquireConnection(with origin: String) -> Bool { queue.acquireConnection(with: origin, now: Date()) }

  func releaseConnection(with origin: String) { queue.releaseConnection(with: origin) }
}
