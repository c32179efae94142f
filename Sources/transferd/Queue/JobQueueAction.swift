import FoundationEssentials
import TransferAPI

/// What the daemon has to do, as ``JobQueue`` decides.
enum JobQueueAction: Equatable, Sendable {
  /// Read the best waiting jobs; answered with `.found` or `.searchFailed`.
  case search(Search)
  /// Read the first job that must run in isolation; answered with `.foundToRunAlone` or `.searchFailed`.
  case searchToRunAlone(excludedOrigins: Set<String>)
  /// Store the ends of attempts and claim jobs, in one transaction; answered with `.turned`.
  case turn(ending: [JobID], claiming: [JobID])
  /// Start the attempts of claimed jobs; each is answered with `.ended`.
  case start([JobID])
  /// Stop attempts with a checkpoint.
  case cancel([JobID])
  /// Report `.jobsChanged` at this time.
  case wakeAt(Date)
  /// Report `.isolationLimitReached` after this time.
  case limitIsolation(JobQueue.IsolatedAttempt, Duration)

  /// A search for candidates.
  struct Search: Equatable, Sendable {
    /// Origins that can start no job now.
    var excludedOrigins: Set<String>
    /// The closed origins among them, each with the time at which it opens.
    var reopenTimes: [String: Date]
    var limit: Int
  }
}
