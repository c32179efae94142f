import FoundationEssentials

/// When each origin may begin its next transfer, for origins with an `interval`. Pure: the clock is passed in.
struct OriginPacing: Sendable {
  private var starts: [String: Date] = [:]

  mutating func recordStart(of origin: String, _ rules: OriginRules, now: Date) {
    guard rules.rule(for: origin)?.interval != nil else { return }
    starts[origin] = now
    // Origins whose interval is over have no effect.
    if starts.count > 1024 { starts = starts.filter { reopenTime(of: $0.key, rules, after: now) != nil } }
  }

  /// The time at which the origin may begin a transfer again; `nil`: now. A clock that was set back ends the wait.
  func reopenTime(of origin: String, _ rules: OriginRules, after now: Date) -> Date? {
    guard let start = starts[origin], start <= now, let interval = rules.rule(for: origin)?.interval else { return nil }
    let time = start.addingTimeInterval(interval.seconds)
    return time > now ? time : nil
  }

  func reopenTimes(_ rules: OriginRules, after now: Date) -> [String: Date] {
    var times: [String: Date] = [:]
    for origin in starts.keys { times[origin] = reopenTime(of: origin, rules, after: now) }
    return times
  }
}
