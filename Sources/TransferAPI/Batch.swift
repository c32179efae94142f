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
