public import FoundationEssentials

/// `GET /v1/stats`
public struct Stats: Codable, Equatable, Sendable {
  public var version: String
  public var pid: Int32
  public var stateDirectory: String
  public var startedAt: Date
  public var counts: StateCounts
  public var bytesPerSecond: Int64
  public var maxActive: Int
  public var maxPerOrigin: Int
  /// The newest event's number. A stream with this number as `since` misses no later event.
  public var lastEvent: Int64

  public init(
    version: String, pid: Int32, stateDirectory: String, startedAt: Date, counts: StateCounts,
    bytesPerSecond: Int64, maxActive: Int, maxPerOrigin: Int, lastEvent: Int64
  ) {
    self.version = version
    self.pid = pid
    self.stateDirectory = stateDirectory
    self.startedAt = startedAt
    self.counts = counts
    self.bytesPerSecond = bytesPerSecond
    self.maxActive = maxActive
    self.maxPerOrigin = maxPerOrigin
    self.lastEvent = lastEvent
  }
}
