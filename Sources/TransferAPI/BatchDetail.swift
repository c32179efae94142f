import FoundationEssentials
import WireValues

/// `batch show`: counts, bytes, and the failures by code.
public struct BatchDetail: Codable, Equatable, Sendable {
  public var batch: Batch
  public var bytesDone: Int64
  /// Sum of the totals that are known.
  public var bytesTotal: Int64
  /// The number of failed jobs for each `error.code`.
  public var failures: [String: Int]
  /// What the completed jobs have done.
  public var results: JobResults
  /// The most transfers of the batch at once; `nil`: as many as the daemon allows.
  public var maxActive: Int?
  /// Bytes a second of all its transfers together; `nil`: no limit.
  public var limitRate: Int64?
  /// For jobs that are added to it without a priority of their own; `nil`: nothing was set.
  public var priority: Int?

  public init(batch: Batch, bytesDone: Int64, bytesTotal: Int64, failures: [String: Int], results: JobResults) {
    self.batch = batch
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.failures = failures
    self.results = results
  }

  private enum CodingKeys: String, CodingKey {
    case bytesDone, bytesTotal, failures, results, maxActive, limitRate, priority
  }

  public init(from decoder: any Decoder) throws {
    batch = try Batch(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    bytesDone = try container.decode(Int64.self, forKey: .bytesDone)
    bytesTotal = try container.decode(Int64.self, forKey: .bytesTotal)
    failures = try container.decode([String: Int].self, forKey: .failures)
    // A daemon of an earlier release has only transfers.
    results =
      try container.decodeIfPresent(JobResults.self, forKey: .results)
      ?? JobResults(completed: batch.counts.completed, unchanged: 0, skipped: 0)
    maxActive = try container.decodeIfPresent(Int.self, forKey: .maxActive)
    limitRate = try container.decodeIfPresent(Int64.self, forKey: .limitRate)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority)
  }

  public func encode(to encoder: any Encoder) throws {
    try batch.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(bytesDone, forKey: .bytesDone)
    try container.encode(bytesTotal, forKey: .bytesTotal)
    try container.encode(failures, forKey: .failures)
    try container.encode(results, forKey: .results)
    try container.encode(maxActive, forKey: .maxActive)
    try container.encode(limitRate, forKey: .limitRate)
    try container.encode(priority, forKey: .priority)
  }
}
