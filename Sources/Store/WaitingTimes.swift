public import FoundationEssentials

/// When waiting jobs may begin by the clock alone.
public struct WaitingTimes: Equatable, Sendable {
  /// The earliest retry later than now, of an origin that was not excluded; `nil`: there is none.
  public var nextRetry: Date?
  /// For each closed origin with waiting jobs: when its first job may begin once the origin is open. `now` where a job is queued
  /// or already due.
  public var closedOrigins: [String: Date]

  public init(nextRetry: Date? = nil, closedOrigins: [String: Date] = [:]) {
    self.nextRetry = nextRetry
    self.closedOrigins = closedOrigins
  }
}
