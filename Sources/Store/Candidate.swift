import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

/// A job that might be claimed now.
public struct Candidate: Equatable, Sendable {
  public var id: JobID
  public var origin: String
  public var priority: Int
}
