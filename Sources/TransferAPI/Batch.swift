public import FoundationEssentials

/// A named set of jobs, made by the first job that names it. Its counters are stored and updated with every change; a
/// query does not count the jobs.
public struct Batch: Codable, Equatable, Sendable {
  public var name: String
  public var createdAt: Date
  public var counts: StateCounts
  /// The uid of the user who submitted its jobs; the name is unique for each owner. `nil` if the daemon does not report
  /// it.
  public var owner: UInt32?

  public init(name: String, createdAt: Date, counts: StateCounts, owner: UInt32? = nil) {
    self.name = name
    self.createdAt = createdAt
    self.counts = counts
    self.owner = owner
  }
}
