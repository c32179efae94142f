import TransferAPI

/// What `batch set` has set for a batch.
public struct BatchLimits: Equatable, Sendable {
  /// The most transfers at once; `nil`: as many as the daemon allows.
  public var maxActive: Int?
  /// Bytes per second of all its transfers together; `nil`: no limit.
  public var limitRate: Int64?
  /// For its unfinished jobs, and for jobs that are added without a priority of their own; `nil`: each job has its own.
  public var priority: Int?

  public init(maxActive: Int? = nil, limitRate: Int64? = nil, priority: Int? = nil) {
    self.maxActive = maxActive
    self.limitRate = limitRate
    self.priority = priority
  }
}

extension JobSpec {
  /// The job's batch; `nil` if it has none.
  public var batchID: BatchID? { batch.map { BatchID(owner: owner, name: $0) } }
}

extension BatchID {
  /// The batch in the queue's indexes. Jobs without a batch have the empty text.
  var lane: String { "\(owner) \(name)" }
}
