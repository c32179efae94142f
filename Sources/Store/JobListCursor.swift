public import TransferAPI

/// Where a page of a list of jobs begins.
public struct JobListCursor: Equatable, Sendable {
  /// The priority that is being listed; only in the order of priorities.
  var priority: Int?
  /// The page begins after this job; `nil`: with the first one.
  var id: JobID?

  init(priority: Int?, id: JobID?) {
    self.priority = priority
    self.id = id
  }

  /// After a job, in the order of ids, ascending or descending.
  public init(after id: JobID) { self.init(priority: nil, id: id) }

  /// The job after which the page begins, in the order of ids.
  public var after: JobID? { id }
}
