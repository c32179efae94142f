import FoundationEssentials
import Store
import TransferAPI
import WireValues

/// Holds jobs back from servers that asked for it, or that are gone. Pure: the clock is passed in.
///
/// `Retry-After` closes an origin for all its jobs. An origin that refused every connection for a minute is probed by one
/// job at a time, once in a while, so that an outage does not burn the tries of everything that waits for it.
struct OriginGovernor: Sendable {
  struct Origin: Equatable, Sendable {
    /// Connections that failed in a row, whichever job's.
    var failures = 0
    var failingSince: Date?
    /// It asked to be left alone until then.
    var blockedUntil: Date?
    /// For how long, when it asked last.
    var blockLength: TimeInterval?
    /// It is gone; the next look at it.
    var probeAt: Date?
    /// The job whose connection failed last.
    var lastProbe: JobID?
  }

  /// Failures in a row, over at least `patience`, after which an origin counts as gone.
  static let failureLimit = 16
  static let patience: TimeInterval = 60
  /// Between two probes of an origin that is gone.
  static let probeInterval: TimeInterval = 30
  /// No server closes itself for longer.
  static let maximumBlock: TimeInterval = 86400

  private(set) var origins: [String: Origin] = [:]

  /// What was stored, after a restart. A clock set back does not prolong a block beyond its own length.
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

  func isBlocked(_ name: String, now: Date) -> Bool {
    origins[name]?.isClosed(now: now) ?? false
  }

  func blocked(now: Date) -> Set<String> {
    Set(origins.filter { $0.value.isClosed(now: now) }.keys)
  }

  /// Jobs it may have at once: none while it is closed, one while it is probed.
  func capacity(of name: String, now: Date) -> Int {
    guard let origin = origins[name] else { return .max }
    if origin.isClosed(now: now) { return 0 }
    return isGone(origin, now: now) ? 1 : .max
  }

  /// The origins that are gone, each with the job that has found it so last.
  func lastProbes(now: Date) -> [String: JobID] {
    origins.compactMapValues { isGone($0, now: now) ? $0.lastProbe : nil }
  }

  /// When each closed origin opens.
  func openings(after now: Date) -> [String: Date] { origins.compactMapValues { $0.opening(after: now) } }

  /// When this origin opens; `nil` where it is open.
  func opening(of name: String, after now: Date) -> Date? { origins[name]?.opening(after: now) }

  /// A clock that was set back does not prolong a wait beyond its own length.
  mutating func noticeClock(_ now: Date) {
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

  private func isGone(_ origin: Origin, now: Date) -> Bool {
    guard origin.failures >= Self.failureLimit, let since = origin.failingSince else { return false }
    return now.timeIntervalSince(since) >= Self.patience
  }

  /// It answered, whatever it said.
  mutating func answered(_ name: String, now: Date) {
    guard var origin = origins[name] else { return }
    origin.failures = 0
    origin.failingSince = nil
    origin.probeAt = nil
    origins[name] = origin.isClosed(now: now) ? origin : nil
  }

  /// There is a way to the network again: what was found gone may be there. A server's own wish still holds.
  mutating func networkReturned(now: Date) {
    for name in origins.keys { answered(name, now: now) }
  }

  /// It asked to be left alone.
  /// - Returns: what is to be stored.
  mutating func close(_ name: String, for delay: Duration, now: Date) -> Origin {
    var origin = origins[name] ?? Origin()
    let until = now.addingTimeInterval(min(delay.seconds, Self.maximumBlock))
    let latest = max(origin.blockedUntil ?? until, until)
    origin.blockedUntil = latest
    origin.blockLength = latest.timeIntervalSince(now)
    origins[name] = origin
    return origin
  }

  /// A person asks for one of its jobs now, whatever it said or seemed to be.
  /// - Returns: what is to be stored; `nil` where it was open.
  mutating func open(_ name: String, now: Date) -> Origin? {
    guard var origin = origins[name] else { return nil }
    let hadAsked = origin.blockedUntil.map { $0 > now } ?? false
    origin.blockedUntil = nil
    origin.blockLength = nil
    origin.probeAt = nil
    origins[name] = origin.failures > 0 ? origin : nil
    return hadAsked ? origin : nil
  }

  /// No connection came about.
  mutating func failed(_ name: String, by job: JobID? = nil, now: Date) {
    var origin = origins[name] ?? Origin()
    origin.lastProbe = job
    origin.failures = origin.failures.saturatingSum(1)
    origin.failingSince = origin.failingSince ?? now
    if isGone(origin, now: now) { origin.probeAt = now.addingTimeInterval(Self.probeInterval) }
    origins[name] = origin
  }
}

extension OriginGovernor.Origin {
  func isClosed(now: Date) -> Bool { opening(after: now) != nil }

  /// The later of its two waits; `nil` where both are over.
  func opening(after now: Date) -> Date? {
    let opening = max(blockedUntil ?? .distantPast, probeAt ?? .distantPast)
    return opening > now ? opening : nil
  }
}
