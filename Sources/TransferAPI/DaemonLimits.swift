public import FoundationEssentials

/// `GET /v1/limits`: the limits of the whole daemon that are in force.
public struct DaemonLimits: Codable, Equatable, Sendable {
  /// Where a limit comes from.
  public enum Source: String, Codable, Sendable {
    /// `transferctl limit` has set it.
    case limit
    /// The configuration: the file, a variable or an option of `transferd`.
    case configuration
    /// A timetable of the configuration.
    case timetable
    /// Nothing has set it.
    case `default`
  }

  /// Where each limit comes from.
  public struct Sources: Codable, Equatable, Sendable {
    public var down, up, maxActive, maxPerOrigin: Source

    public init(down: Source, up: Source, maxActive: Source, maxPerOrigin: Source) {
      (self.down, self.up, self.maxActive, self.maxPerOrigin) = (down, up, maxActive, maxPerOrigin)
    }
  }

  /// Bytes a second; `nil`: no limit.
  public var down: Int64?
  public var up: Int64?
  public var maxActive: Int
  /// `nil`: the daemon finds the number for each origin (`auto`).
  public var maxPerOrigin: Int?
  public var from: Sources
  /// When a timetable changes the limit next; `nil`: not within a day.
  public var downUntil: Date?
  public var upUntil: Date?

  public init(
    down: Int64?, up: Int64?, maxActive: Int, maxPerOrigin: Int?, from: Sources, downUntil: Date? = nil,
    upUntil: Date? = nil
  ) {
    self.down = down
    self.up = up
    self.maxActive = maxActive
    self.maxPerOrigin = maxPerOrigin
    self.from = from
    self.downUntil = downUntil
    self.upUntil = upUntil
  }

  private enum CodingKeys: String, CodingKey {
    case down, up, maxActive, maxPerOrigin, from, downUntil, upUntil
  }

  /// Every field is present.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(down, forKey: .down)
    try container.encode(up, forKey: .up)
    try container.encode(maxActive, forKey: .maxActive)
    try container.encode(maxPerOrigin, forKey: .maxPerOrigin)
    try container.encode(from, forKey: .from)
    try container.encode(downUntil, forKey: .downUntil)
    try container.encode(upUntil, forKey: .upUntil)
  }
}

/// `PATCH /v1/limits`: only the fields that are there change; `null` means no limit.
public struct DaemonLimitChange: Codable, Equatable, Sendable {
  /// Back to the configuration, before the other fields apply.
  public var reset = false
  /// `.some(nil)`: no limit, whatever the configuration says.
  public var down: Int64??
  public var up: Int64??
  public var maxActive: Int?
  /// `.some(nil)`: `auto`.
  public var maxPerOrigin: Int??

  /// Changes nothing.
  public init() {}

  private enum CodingKeys: String, CodingKey { case reset, down, up, maxActive, maxPerOrigin }

  /// - Throws: `WireError` for an unknown field, so that a misspelt field is not silently ignored.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    reset = try container.decodeIfPresent(Bool.self, forKey: .reset) ?? false
    down = try container.decodeIfGiven(ByteRate.self, forKey: .down).map { $0?.bytesPerSecond }
    up = try container.decodeIfGiven(ByteRate.self, forKey: .up).map { $0?.bytesPerSecond }
    if container.contains(.maxActive) { maxActive = try container.decode(Int.self, forKey: .maxActive) }
    maxPerOrigin = try container.decodeIfGiven(Int.self, forKey: .maxPerOrigin)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if reset { try container.encode(true, forKey: .reset) }
    if let down { try container.encode(down, forKey: .down) }
    if let up { try container.encode(up, forKey: .up) }
    if let maxActive { try container.encode(maxActive, forKey: .maxActive) }
    if let maxPerOrigin { try container.encode(maxPerOrigin, forKey: .maxPerOrigin) }
  }
}
