import FoundationEssentials
import Store
import TransferAPI
import WireValues

/// Decides how many jobs may contact an origin. Pure: the clock is passed in.
///
/// An origin is *closed* while no job may contact it. `Retry-After` blocks an origin, which closes it for all its jobs. An
/// origin is *unreachable* after all connections failed for a minute. It is then probed by one job at a time, at intervals,
/// so that an outage does not use up the attempts of all waiting jobs.
struct OriginGovernor: Sendable {
  struct Origin: Equatable, Sendable {
    /// Consecutive connection failures of all jobs.
    var failures = 0
    var failingSince: Date?
    /// The end of the wait that the origin requested with `Retry-After`.
    var blockedUntil: Date?
    /// The length of that wait in seconds, from the time of the request.
    var blockLength: TimeInterval?
    /// When the unreachable origin is probed next.
    var probeAt: Date?
    /// The job with the latest connection failure.
    var lastProbe: JobID?
  }

  /// An origin is unreachable after this many consecutive failures, if they span at least `minimumFailureTime`.
  static let failureLimit = 16
  /// In seconds.
  static let minimumFailureTime: TimeInterval = 60
  /// Seconds between two probes of an unreachable origin.
  static let probeInterval: TimeInterval = 30
  /// Maximum time in seconds for which an origin can block its jobs.
  static let maximumBlock: TimeInterval = 86400

  private(set) var origins: [String: Origin] = [:]

  /// Restores the stored blocks after a restart. A clock that was set back does not make a block longer than it was.
  init(stored: [OriginState] = [], now: Date) {
    for state in stored {
      guard let until = state.blockedUntil else { continue }
      let length = until.timeIntervalSince(state.updatedAt)
      let left = min(until.timeIntervalSince(now), length, Self.maximumBlock)
      guard left > 0 else { continue }
      origins[state.name] = Origin(
        failures: state.failures, blockedUntil: now.addingTimeInterval(left), blockLength: left)
    }
  }

  func isClosed(_ name: String, now: Date) -> Bool {
    origins[name]?.isClosed(now: now) ?? false
  }

  /// The number of concurrent jobs an origin may have: 0 while it is closed, 1 while it is probed.
  func capacity(of name: String, now: Date) -> Int {
    guard let origin = origins[name] else { return .max }
    if origin.isClosed(now: now) { return 0 }
    return isUnreachable(origin, now: now) ? 1 : .max
  }

  /// The unreachable origins, each with the job that probed it last.
  func lastProbes(now: Date) -> [String: JobID] {
    origins.compactMapValues { isUnreachable($0, now: now) ? $0.lastProbe : nil }
  }

  /// The closed origins, each with the time at which it opens.
  func reopenTimes(after now: Date) -> [String: Date] { origins.compactMapValues { $0.reopenTime(after: now) } }

  /// The time at which this origin opens; `nil` if it is open.
  func reopenTime(of name: String, after now: Date) -> Date? { origins[name]?.reopenTime(after: now) }

  /// Shortens the waits after the clock was set back, so that none becomes longer than it was.
  mutating func adjustToClock(_ now: Date) {
    for (name, origin) in origins {
      var origin = origin
      if let until = origin.blockedUntil, let length = origin.blockLength, until.timeIntervalSince(now) > length {
        origin.blockedUntil = now.addingTimeInterval(length)
      }
      if let probe = origin.probeAt, probe.timeIntervalSince(now) > Self.probeInterval {
        origin.probeAt = now.addingTimeInterval(Self.probeInterval)
      }
      if let since = origin.failingSince, since > now { origin.failingSince = now }
      if origin != origins[name] { origins[name] = origin }
    }
  }

  private func isUnreachable(_ origin: Origin, now: Date) -> Bool {
    guard origin.failures >= Self.failureLimit, let since = origin.failingSince else { return false }
    return now.timeIntervalSince(since) >= Self.minimumFailureTime
  }

  /// The origin sent a response, with any status.
  mutating func recordResponse(from name: String, now: Date) {
    guard var origin = origins[name] else { return }
    origin.failures = 0
    origin.failingSince = nil
    origin.probeAt = nil
    origins[name] = origin.isClosed(now: now) ? origin : nil
  }

  /// The network is reachable again, so unreachable origins may be reachable too. Blocks by `Retry-After` remain.
  mutating func networkReturned(now: Date) {
    for name in origins.keys { recordResponse(from: name, now: now) }
  }

  /// Blocks an origin, as it requested with `Retry-After`.
  /// - Returns: the state to store.
  mutating func close(_ name: String, for delay: Duration, now: Date) -> Origin {
    var origin = origins[name] ?? Origin()
    let until = now.addingTimeInterval(min(delay.seconds, Self.maximumBlock))
    let latest = max(origin.blockedUntil ?? until, until)
    origin.blockedUntil = latest
    origin.blockLength = latest.timeIntervalSince(now)
    origins[name] = origin
    return origin
  }

  /// Opens an origin because a user explicitly retries one of its jobs.
  /// - Returns: the state to store; `nil` if the origin was not blocked.
  mutating func reopen(_ name: String, now: Date) -> Origin? {
    guard var origin = origins[name] else { return nil }
    let wasBlocked = origin.blockedUntil.map { $0 > now } ?? false
    origin.blockedUntil = nil
    origin.blockLength = nil
    origin.probeAt = nil
    origins[name] = origin.failures > 0 ? origin : nil
    return wasBlocked ? origin : nil
  }

  /// A connection to the origin failed.
  mutating func recordConnectionFailure(to name: String, by job: JobID? = nil, now: Date) {
    var origin = origins[name] ?? Origin()
    origin.lastProbe = job
    origin.failures = origin.failures.saturatingSum(1)
    origin.failingSince = origin.failingSince ?? now
    if isUnreachable(origin, now: now) { origin.probeAt = now.addingTimeInterval(Self.probeInterval) }
    origins[name] = origin
  }
}

extension OriginGovernor.Origin {
  func isClosed(now: Date) -> Bool { reopenTime(after: now) != nil }

  /// The end of the later of its two waits; `nil` if both are over.
  func reopenTime(after now: Date) -> Date? {
    let time = max(blockedUntil ?? .distantPast, probeAt ?? .distantPast)
    return time > now ? time : nil
  }
}
