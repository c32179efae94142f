public import TransferAPI

/// A job that might be claimed now.
public struct Candidate: Equatable, Sendable {
  public var id: JobID
  public var origin: String
  public var priority: Int
  public var batch: BatchID?
  public var owner: UInt32

  public init(id: JobID, origin: String, priority: Int, batch: BatchID? = nil, owner: UInt32 = 0) {
    self.id = id
    self.origin = origin
    self.priority = priority
    self.batch = batch
    self.owner = batch?.owner ?? owner
  }

  /// Its batch, or all jobs of its owner without a batch: shares of one priority take turns.
  public var share: BatchID { batch ?? BatchID(owner: owner, name: "") }
}
