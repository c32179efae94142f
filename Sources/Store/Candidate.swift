import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

/// A job that might be claimed now.
public struct Candidate: Equatable, Sendable {
  public var id: JobID
  public var origin: String
  public var priority: Int
  /// `nil` if it has none, or if no batch has a limit.
  public var batch: BatchID?

  public init(id: JobID, origin: String, priority: Int, batch: BatchID? = nil) {
    self.id = id
    self.origin = origin
    self.priority = priority
    self.batch = batch
  }
}
