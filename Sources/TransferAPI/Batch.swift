public import FoundationEssentials
import WireValues

/// A named set of jobs, made by the first job that names it. Its counters are kept, not counted.
public struct Batch: Codable, Equatable, Sendable {
  public var name: String
  public var createdAt: Date
  public var counts: StateCounts
  /// The uid of the user who submitted its jobs; the name is unique for each owner. `nil` from a daemon that does not tell.
  public var owner: UInt32?

  public init(name: String, createdAt: Date, counts: StateCounts, owner: UInt32? = nil) {
    self.name = name
    self.createdAt = createdAt
    self.counts = counts
    self.owner = owner
  }
}

/// `batch show`: counts, bytes, and the failures by code.
public struct BatchDetail: Codable, Equatable, Sendable {
  public var batch: Batch
  public var bytesDone: Int64
  /// Sum of the totals that are known.
  public var bytesTotal: Int64
  /// How many failed jobs have each `error.code`.
  public var failures: [String: Int]

  public init(batch: Batch, bytesDone: Int64, bytesTotal: Int64, failures: [String: Int]) {
    self.batch = batch
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.failures = failures
  }

  private enum CodingKeys: String, CodingKey { case bytesDone, bytesTotal, failures }

  public init(from decoder: any Decoder) throws {
    batch = try Batch(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    bytesDone = try container.decode(Int64.self, forKey: .bytesDone)
    bytesTotal = try container.decode(Int64.self, forKey: .bytesTotal)
    failures = try container.decode([String: Int].self, forKey: .failures)
  }

  public func encode(to encoder: any Encoder) throws {
    try batch.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(bytesDone, forKey: .bytesDone)
    try container.encode(bytesTotal, forKey: .bytesTotal)
    try container.encode(failures, forKey: .failures)
  }
}

/// How many jobs are in each state.
public struct StateCounts: Codable, Equatable, Sendable {
  public var queued = 0
  public var running = 0
  public var retrying = 0
  public var paused = 0
  public var completed = 0
  public var failed = 0
  public var cancelled = 0

  public init() {}

  public subscript(state: JobState) -> Int {
    get {
      switch state {
      case .queued: queued
      case .running: running
      case .retrying: retrying
      case .paused: paused
      case .completed: completed
      case .failed: failed
      case .cancelled: cancelled
      }
    }
    set {
      switch state {
      case .queued: queued = newValue
      case .running: running = newValue
      case .retrying: retrying = newValue
      case .paused: paused = newValue
      case .completed: completed = newValue
      case .failed: failed = newValue
      case .cancelled: cancelled = newValue
      }
    }
  }

  public var total: Int { JobState.allCases.reduce(0) { $0.saturatingSum(self[$1]) } }
  /// Jobs that are not in a final state.
  public var unfinished: Int { [queued, running, retrying, paused].reduce(0) { $0.saturatingSum($1) } }
}
