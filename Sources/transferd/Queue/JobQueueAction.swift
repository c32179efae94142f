import FoundationEssentials
import Store
import TransferAPI

/// An action that ``JobQueue`` requests from the daemon.
enum JobQueueAction: Equatable, Sendable {
  /// Read the best waiting jobs; the result is reported as `.found` or `.searchFailed`.
  case search(Search)
  /// Read the first job that must run in isolation; the result is reported as `.foundToRunAlone` or `.searchFailed`.
  case searchToRunAlone(excludedOrigins: Set<String>)
  /// Store the ends of attempts and claim jobs, in one transaction; the result is reported as `.turned`.
  case turn(ending: [JobID], claiming: [JobID])
  /// Start the attempts of claimed jobs; the end of each is reported as `.ended`.
  case start([JobID])
  /// Stop attempts with a checkpoint.
  case cancel([JobID])
  /// Report `.jobsChanged` at this time.
  case wakeAt(Date)
  /// Let this many of the origin's started jobs transfer at once; `nil`: all. The others wait.
  case limitConnections(String, Int?)
  /// Report `.isolationLimitReached` after this time.
  case limitIsolation(JobQueue.IsolatedAttempt, Duration)

  /// A search for candidates.
  struct Search: Equatable, Sendable {
    /// Origins that can start no job now.
    var excludedOrigins: Set<String>
    /// Batches that can start no job now.
    var excludedBatches: Set<BatchID> = []
    /// The closed origins among them, each with the time at which it opens.
    var reopenTimes: [String: Date]
    /// Where the search begins among the batches of one priority.
    var cursor: String?
    var limit: Int
  }
}
