public import FoundationEssentials
public import TransferAPI

/// The end of an attempt, and the next state of its job.
public struct Settlement: Equatable, Sendable {
  public var id: JobID
  /// Of the claim under which the job runs.
  public var fence: Int64
  /// `complete`, `fail`, `postpone`, `requeue`, `pause` or `cancel`.
  public var event: JobEvent
  /// Why, for people.
  public var reason: String?
  /// Kept as the job's error by `fail` and `postpone`.
  public var failure: JobFailure?
  /// With `requeue`: a relay's copy is complete and durable, and its upload begins.
  public var beginsUpload = false
  /// When the next attempt begins; only with `postpone`. `nil`: `retryDelay` from now.
  public var retryAt: Date?
  /// The length of that wait, which a clock that is set back does not prolong.
  public var retryDelay: Duration = .zero
  public var bytesDone: Int64
  public var bytesTotal: Int64?
  public var resumeData: ResumeDataChange = .keep
  public var attempt = AttemptEnd()
  /// With `complete`: what the job has done.
  public var result = JobResult.transferred
  /// With `complete`: the path of the file, if it is not the one that is stored. `nil` keeps what is stored.
  public var destination: String?
  /// With `complete`: what is known of the file now. `nil`: nothing is stored.
  public var fileRecord: Data?
  /// What is known of a download's sources; empty: only its own URL.
  public var sources: [JobSource] = []
  /// The attempt made progress: consecutive attempts without progress are counted anew, from this one.
  public var resetAttempts = false
  /// The attempt does not count towards `maxAttempts`: it waited for space on the disk.
  public var isUncounted = false
  /// The daemon's unexpected end cut the attempt off: it counts as a crash, not as an attempt. Every other settlement sets the
  /// number of consecutive crashes to 0.
  public var crashed = false
  /// With `crashed`: that end left a crash mark, which is counted separately. The number of consecutive crashes stays.
  public var isMarked = false
  /// What remains to be done after the job's end; stored in the same transaction.
  public var followUp = FollowUp()

  public enum ResumeDataChange: Equatable, Sendable {
    case keep
    case set(Data)
    case clear
  }

  public init(id: JobID, fence: Int64, event: JobEvent, bytesDone: Int64, bytesTotal: Int64?) {
    self.id = id
    self.fence = fence
    self.event = event
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
  }
}
