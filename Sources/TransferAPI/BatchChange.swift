import FoundationEssentials

/// `PATCH /v1/batches/{name}`: only the fields that are there change; `null` removes a limit.
public struct BatchChange: Codable, Equatable, Sendable {
  /// The most transfers of the batch at once.
  public var maxActive: Int??
  /// Bytes a second of all its transfers together.
  public var limitRate: Int64??
  /// For its unfinished jobs, and for jobs that are added to it without a priority of their own.
  public var priority: Int??

  /// Changes nothing.
  public init() {}

  private enum CodingKeys: String, CodingKey { case maxActive, limitRate, priority }

  /// - Throws: `WireError` for an unknown field, so that a misspelt field is not silently ignored.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    maxActive = try container.decodeIfGiven(Int.self, forKey: .maxActive)
    limitRate = try container.decodeIfGiven(ByteRate.self, forKey: .limitRate).map { $0?.bytesPerSecond }
    priority = try container.decodeIfGiven(Int.self, forKey: .priority)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if let maxActive { try container.encode(maxActive, forKey: .maxActive) }
    if let limitRate { try container.encode(limitRate, forKey: .limitRate) }
    if let priority { try container.encode(priority, forKey: .priority) }
  }
}
