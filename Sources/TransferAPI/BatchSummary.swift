public import FoundationEssentials

/// What a batch has done when it ends: the fields of `batch show`, and how long it took.
public struct BatchSummary: Encodable, Equatable, Sendable {
  public var detail: BatchDetail
  /// When the first of its jobs began; `nil` if none did.
  public var startedAt: Date?
  /// When the last of its jobs ended.
  public var finishedAt: Date?

  public init(detail: BatchDetail, startedAt: Date?, finishedAt: Date?) {
    self.detail = detail
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }

  /// Seconds from `startedAt` to `finishedAt`; 0 if no job began.
  public var duration: Double {
    guard let startedAt, let finishedAt else { return 0 }
    // The times have milliseconds.
    return (max(0, finishedAt.timeIntervalSince(startedAt)) * 1000).rounded() / 1000
  }

  private enum CodingKeys: String, CodingKey { case event, batch, jobs, startedAt, finishedAt, duration }

  public func encode(to encoder: any Encoder) throws {
    try detail.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(DeliveryEvent.batchEnd, forKey: .event)
    try container.encode(detail.batch.name, forKey: .batch)
    try container.encode(detail.batch.counts.total, forKey: .jobs)
    try container.encode(startedAt, forKey: .startedAt)
    try container.encode(finishedAt, forKey: .finishedAt)
    try container.encode(duration, forKey: .duration)
  }
}
