import TransferAPI
import TransferEngine

/// Attempts that share their work.
protocol GroupedTransfers: AnyObject, Sendable {
  var lane: TransferLane { get }
  /// Ends the attempt of a job. A download keeps its part file and its resume data.
  func cancel(_ id: JobID)
  func progress(of id: JobID) -> TransferProgress
  /// Sets how many transfers with an origin run at once, of those that were started; `nil`: all.
  func limitConnections(_ maximum: Int?, origin: String) async
}

extension JobID {
  /// The job's number in a group. Ids are 64 bits, as Swift's `Int` is on Linux.
  var tag: Int { Int(rawValue) }  // checked: both have 64 bits

  init(tag: Int) { self.init(Int64(tag)) }
}
