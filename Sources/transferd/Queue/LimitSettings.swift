import FoundationEssentials
import TransferAPI

/// The limits of the configuration, and what `transferctl limit` sets above them. Pure: the time is passed in.
struct LimitSettings: Equatable, Sendable {
  struct Rates: Equatable, Sendable {
    var down = RateSetting.unset
    var up = RateSetting.unset
  }

  var base = Scheduler.Limits()
  var rates = Rates()
  /// The names of the configuration's keys that something has set.
  var given: Set<String> = []

  /// What `transferctl limit` has set; it is stored. `nil` everywhere: nothing.
  struct Overrides: Equatable, Sendable {
    /// `.some(nil)`: no limit.
    var down: Int64??
    var up: Int64??
    var maxActive: Int?
    /// `.some(nil)`: `auto`.
    var maxPerOrigin: Int??

    init() {}

    /// Reads what was stored. What cannot be read is ignored: another release may have written it.
    init(stored: [String: String?]) {
      func number<Number: FixedWidthInteger>(_ name: String) -> Number?? {
        guard let value = stored[name] else { return nil }
        guard let value else { return .some(nil) }
        return Number(value).flatMap { $0 > 0 ? .some($0) : nil }
      }
      down = number("down")
      up = number("up")
      maxActive = (number("maxActive") as Int??)?.flatMap { Admission.range.contains($0) ? $0 : nil }
      maxPerOrigin = number("maxPerOrigin")
    }

    var stored: [String: String?] {
      var stored: [String: String?] = [:]
      if let down { stored.updateValue(down.map(String.init), forKey: "down") }
      if let up { stored.updateValue(up.map(String.init), forKey: "up") }
      if let maxActive { stored.updateValue(String(maxActive), forKey: "maxActive") }
      if let maxPerOrigin { stored.updateValue(maxPerOrigin.map(String.init), forKey: "maxPerOrigin") }
      return stored
    }

    mutating func apply(_ change: DaemonLimitChange) {
      if change.reset { self = Overrides() }
      if let down = change.down { self.down = .some(down) }
      if let up = change.up { self.up = .some(up) }
      if let count = change.maxActive { maxActive = count }
      if let count = change.maxPerOrigin { maxPerOrigin = .some(count) }
    }
  }

  /// What is in force at a time.
  func inForce(
    _ overrides: Overrides, at now: Date, _ local: (Date) -> RateTimetable.LocalTime = RateTimetable.LocalTime.system
  ) -> DaemonLimits {
    let down = rate(rates.down, overrides.down, now, local)
    let up = rate(rates.up, overrides.up, now, local)
    let limits = limits(overrides)
    let perOrigin: Int? = if case .fixed(let count) = limits.queue.admission.maxPerOrigin { count } else { nil }
    return DaemonLimits(
      down: down.value, up: up.value, maxActive: limits.queue.admission.maxActive, maxPerOrigin: perOrigin,
      from: .init(
        down: down.source, up: up.source,
        maxActive: overrides.maxActive != nil ? .limit : given.contains("maxActive") ? .configuration : .default,
        maxPerOrigin: overrides.maxPerOrigin != nil
          ? .limit : given.contains("maxPerOrigin") ? .configuration : .default),
      downUntil: down.until, upUntil: up.until)
  }

  /// The scheduler's limits.
  func limits(_ overrides: Overrides) -> Scheduler.Limits {
    var limits = base
    if let count = overrides.maxActive { limits.queue.admission.maxActive = count }
    if let count = overrides.maxPerOrigin {
      limits.queue.admission.maxPerOrigin = count.map { .fixed($0) } ?? .automatic
    }
    return limits
  }

  private func rate(
    _ setting: RateSetting, _ override: Int64??, _ now: Date, _ local: (Date) -> RateTimetable.LocalTime
  ) -> (value: Int64?, source: DaemonLimits.Source, until: Date?) {
    if let override { return (override, .limit, nil) }
    switch setting {
    case .unset: return (nil, .default, nil)
    case .fixed(let rate): return (rate, .configuration, nil)
    case .timetable(let table):
      return (table.rate(at: local(now)), .timetable, table.nextChange(after: now, local))
    }
  }

  /// Whether a timetable may change a limit.
  func hasTimetable(_ overrides: Overrides) -> Bool {
    if case .timetable = rates.down, overrides.down == nil { return true }
    if case .timetable = rates.up, overrides.up == nil { return true }
    return false
  }
}
