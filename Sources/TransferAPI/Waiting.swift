public import FoundationEssentials

/// Why a job that could run does not run now.
public struct Waiting: Codable, Equatable, Sendable {
  /// The kinds of reasons.
  public enum Reason: String, Codable, CaseIterable, Sendable {
    /// As many transfers run as may run at once.
    case slot
    /// Its server has as many transfers as it may have, or has asked for a pause, or cannot be reached.
    case origin
    /// The last attempt failed, and the next one is due later.
    case retry
    /// Its `notBefore` has not come.
    case notBefore = "not-before"
    /// It may run in some hours of the day only, and it is another hour.
    case window
    /// Another job or a batch has to complete first.
    case after
    /// The configured `quota` of the day is used up.
    case limit
    /// The network interface that it must use does not exist.
    case network
    /// The disk of its destination is full, or the daemon's database cannot be used.
    case disk
    /// Its batch has as many transfers as `batch set --max-active` allows.
    case batch
    /// An earlier upload to the same URL goes first.
    case blockedBy = "blocked-by"
  }

  public var reason: Reason
  /// When it ends by the clock alone; `nil`: something else has to happen.
  public var until: Date?
  /// The facts, for people: completes "waits until TIME: …".
  public var detail: String

  public init(_ reason: Reason, until: Date? = nil, _ detail: String) {
    self.reason = reason
    self.until = until
    self.detail = detail
  }

  private enum CodingKeys: String, CodingKey { case reason, until, detail }

  /// Every field is present; `until` is null where no time is known.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(reason, forKey: .reason)
    try container.encode(until, forKey: .until)
    try container.encode(detail, forKey: .detail)
  }
}
