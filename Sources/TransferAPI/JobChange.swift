import FoundationEssentials

/// `PATCH /v1/jobs/{id}`: only the fields that are there change.
public struct JobChange: Codable, Equatable, Sendable {
  public var priority: Int?
  /// Bytes a second; 0 removes the limit.
  public var limitRate: Int64?
  /// Another address of the same file; the bytes on disk are kept and checked against it.
  public var url: String?

  public init(priority: Int? = nil, limitRate: Int64? = nil, url: String? = nil) {
    self.priority = priority
    self.limitRate = limitRate
    self.url = url
  }

  private enum CodingKeys: String, CodingKey { case priority, limitRate, url }

  /// - Throws: `WireError` for an unknown field, so that a misspelt field is not silently ignored.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority)
    limitRate = try container.decodeIfPresent(Int64.self, forKey: .limitRate)
    url = try container.decodeIfPresent(String.self, forKey: .url)
  }
}
