import FoundationEssentials
import Store
import TransferAPI

/// An event that the daemon reports to ``JobQueue``.
enum JobQueueEvent: Sendable {
  /// Jobs were added or changed, or a time was reached: the store may have other candidates.
  case jobsChanged
  /// There are jobs that must run in isolation.
  case isolationNeeded
  case limitsChanged(JobQueue.Limits)
  /// No job begins before this time, because the day's quota is used up; `nil`: it is not.
  case quotaUsedUp(until: Date?)
  /// A search has ended.
  /// - Parameters:
  ///   - wakeTime: when a waiting job can start without any other event; `nil` if none can.
  ///   - cursor: where the next search begins.
  case found([Candidate], JobQueueAction.Search, wakeTime: Date?, cursor: String? = nil)
  /// A search for jobs that must run in isolation has ended.
  /// - Parameter mayNeedIsolation: whether there are more such jobs, perhaps later.
  case foundToRunAlone([Candidate], mayNeedIsolation: Bool)
  /// The store could not be searched.
  case searchFailed
  case turned(Turn)
  /// All bytes of these attempts have arrived.
  case transferred([FinishedTransfer])
  /// A running attempt transfers a file that is not small.
  case foundLarge(JobID, fence: Int64)
  /// A running attempt can be stopped and continued later without loss.
  case foundResumable(JobID, fence: Int64)
  /// These jobs have another priority now.
  case priorityChanged([JobID], Int)
  /// The windows of unfinished jobs that are closed now.
  case windowsChanged(ClosedWindows)
  /// These attempts have ended and their ends can be stored.
  /// - Parameter uploads: those among them that sent a file. (A download is reported by `transferred` before it ends.)
  case ended([JobID], uploads: [FinishedTransfer] = [])
  case stop([JobID], StopReason)
  /// An isolated attempt has blocked other jobs for long enough.
  case isolationLimitReached(JobQueue.IsolatedAttempt)
  /// No job starts any more, and every attempt stops.
  case shutdown

  /// The result of a turn.
  struct Turn: Sendable {
    var ended: [End] = []
    var claimed: [Claim] = []
    /// Whether the store failed, so that fewer jobs were claimed, or none.
    var hasFailed = false
  }

  /// An attempt whose end is stored.
  struct End: Sendable {
    let job: JobID
    let origin: String
    /// When its job may start again; `nil` unless it was postponed.
    var retryAt: Date?
  }

  /// A job that became `running`.
  struct Claim: Sendable {
    let job: JobID
    let origin: String
    var batch: BatchID?
    var owner: UInt32 = 0
    let fence: Int64
    var priority = 0
    /// Whether its file is known to be larger than `FinishedTransfer.smallFile`.
    var isLarge = false
    /// Whether its transfer is known to continue where it is stopped.
    var isResumable = false
    /// Whether its transfer may be stopped as soon as it has begun: nothing is lost, and the server has got nothing.
    var isRevocable = false
    /// How long the job may block all others; `nil` for a job that runs beside others.
    var isolationLimit: Duration?
  }
}
