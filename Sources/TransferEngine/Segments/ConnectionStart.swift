import WireValues

/// What it costs to give a rest to another connection. Pure.
struct ConnectionStart: Equatable, Sendable {
  /// Seconds until the connection brings its first byte.
  var delay = 0.0
  /// A rest that its own connection fetches in fewer seconds is not worth another one.
  var worthwhile = 0.0

  /// - Parameter rate: bytes a second of the connection that has the rest; `nil`: unknown.
  func isWorth(_ rest: Int64, at rate: Double?) -> Bool {
    guard let rate, rate > 0 else { return true }
    return Double(rest) / rate >= worthwhile  // checked: rate > 0
  }
}

/// How long connections with one server have taken to begin in a download: the estimate for the next one. Pure.
///
/// A connection whose response was read to its end is used again: the next request waits one round trip for its first byte,
/// and then has the full rate. A new one needs two or three round trips, more with TLS, and several more until TCP has found
/// its rate (slow start, RFC 5681 §3.1). At the end of a file on a network with long round trips, new connections would only
/// slow down those that run.
struct ConnectionStarts: Sendable {
  private struct Running {
    var isReused: Bool
    var end: Int64
  }

  private var new: Double?
  private var reused: Double?
  private var idle = 0
  private var running: [Int: Running] = [:]

  /// A new connection is worth its start for a rest of this many times its delay: slow start takes about six round trips.
  private static let newFactor = 12.0
  private static let reusedFactor = 2.0
  /// In this time all that is on its way in the buffers of both kernels has usually arrived. Dividing it would only have it
  /// sent twice.
  private static let leastWorthwhile = 0.2
  private static let leastPatience = 1.0
  private static let patienceAtFirst = 10.0

  /// What the next connection costs.
  var next: ConnectionStart {
    guard idle > 0, let delay = reused ?? new else {
      return start(after: new.map { $0 * 2 }, worth: (new ?? 0) * Self.newFactor)
    }
    return start(after: delay, worth: delay * Self.reusedFactor)
  }

  private func start(after delay: Double?, worth: Double) -> ConnectionStart {
    ConnectionStart(delay: delay ?? 0, worthwhile: max(worth, Self.leastWorthwhile))
  }

  /// A connection that has brought nothing for this many seconds is slow, not new. Where servers need long for their first
  /// byte, connections that were replaced earlier would never begin.
  var patience: Double { new.map { max(Self.leastPatience, $0 * 4) } ?? Self.patienceAtFirst }

  mutating func began(_ segment: SegmentPlan.Segment) {
    running[segment.id] = Running(isReused: idle > 0, end: segment.end)
    idle = max(0, idle - 1)  // checked: not negative
  }

  /// The first byte has arrived.
  mutating func received(_ id: Int, after seconds: Double) {
    guard let isReused = running[id]?.isReused else { return }
    if isReused {
      // checked: floating point
      reused = reused.map { ($0 + seconds) / 2 } ?? seconds
    } else {
      // checked: floating point
      new = new.map { ($0 + seconds) / 2 } ?? seconds
    }
  }

  /// - Parameter segment: as it is at its end; one that lost a part of its rest was not read to its response's end.
  mutating func ended(_ segment: SegmentPlan.Segment) {
    guard let ended = running.removeValue(forKey: segment.id), ended.end == segment.position else { return }
    idle = idle.saturatingSum(1)
  }
}
