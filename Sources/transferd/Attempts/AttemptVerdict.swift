import FoundationEssentials
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Decides the next state of a job when its attempt has ended. Pure.
struct AttemptVerdict {
  var settlement: Settlement
  /// The part file can no longer be used. It must be deleted before the settlement is stored.
  var removesPartFile = false

  /// The retry policy: at most 20 consecutive attempts without progress. The delay is 1 s at first and doubles up to 5
  /// minutes, with full jitter.
  static let policy = RetryPolicy(
    retryLimit: 19, exponentialBackoffBase: 2, exponentialBackoffScale: 1, maximumDelay: .seconds(300))
  /// Maximum delay in seconds before a retry while something of this machine is missing, such as space on the disk. It is short
  /// because nothing may notify the daemon of its return.
  static let maximumUnavailableDelay = 30.0
  /// Failures after which a job waits without counting attempts.
  static let uncounted: Set<JobFailure.Code> = [.diskFull, .network]

  init(
    _ response: FileResponse, of record: JobRecord, stop: StopReason?, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .complete, bytesDone: response.bytesOnDisk,
      bytesTotal: response.totalBytes ?? record.job.bytesTotal)
    settlement.attempt = AttemptEnd(response)
    settlement.resumeData = response.resumeData.map { .set($0.encoded()) } ?? .clear
    if response.resumeData == nil {
      settlement.bytesDone = 0
    } else if response.bytesOnDisk == 0 {
      // The attempt ended before it examined the part file.
      settlement.bytesDone = record.job.bytesDone
    }
    // Progress is a net gain of bytes that the next attempt can use. Fetching known bytes again from 0 is not progress.
    let isProgress = record.isProgress(to: settlement.bytesDone, isResumed: response.resumedFrom > 0)
    settlement.resetAttempts = isProgress
    guard let error = response.error else {
      settlement.bytesDone = response.bytesOnDisk
      settlement.resumeData = .clear
      settlement.attempt.outcome = .completed
      settleDownloaded(response, record)
      return
    }
    settleUnsuccessful(error, stop, record, isProgress: isProgress, now: now, using: &generator)
  }

  /// Settles a download that has succeeded.
  private mutating func settleDownloaded(_ response: FileResponse, _ record: JobRecord) {
    settlement.result = JobResult(response.outcome)
    settlement.fileRecord = response.record?.encoded()
    switch response.outcome {
    case .transferred:
      settlement.reason = response.verification == .some(.none) ? "length unverified" : nil
      let isNamed = !record.spec.destination.hasTrailingSlash
      if isNamed, let path = response.filePath, path != record.spec.destination { settlement.destination = path }
      settlement.followUp.fileAction = Self.fileAction(of: record, path: response.filePath, response.version)
      // With a name from the response, the journal has stored the one that was suggested.
      if !isNamed, ExistingFileRule(record.spec.options.download) == .rename {
        settlement.destination = response.filePath
      }
    case .unchanged, .skipped:
      settlement.reason =
        response.outcome == .skipped ? "the destination exists" : "the destination is the server's version"
      (settlement.bytesDone, settlement.bytesTotal) = (0, 0)
      if record.spec.destination.hasTrailingSlash { settlement.destination = response.filePath }
      // An earlier attempt may have begun a part file.
      removesPartFile = record.attemptNumber > 1
    }
  }

  /// What happens to the file of a completed download; `nil`: it stays.
  /// - Parameter version: the file that got its name.
  static func fileAction(of record: JobRecord, path: String?, _ version: SourceIdentity?) -> PendingFileAction? {
    guard case .move = record.spec.options.onSuccess, let path, let version else { return nil }
    var action = PendingFileAction(
      job: record.job.id, owner: record.spec.owner, path: path, action: record.spec.options.onSuccess, stamp: version)
    action.isDownloaded = true
    return action
  }

  /// Settles an attempt that did not succeed.
  mutating func settleUnsuccessful(
    _ error: TransferError, _ stop: StopReason?, _ record: JobRecord, isProgress: Bool, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    guard let stop, error.isCancellation else {
      return settleFailed(error, record, isProgress: isProgress, now: now, using: &generator)
    }
    switch stop {
    case .pause:
      settlement.event = .pause
      settlement.resetAttempts = true
      settlement.reason = "paused by request"
      settlement.attempt.outcome = .paused
    case .deadline:
      settlement.event = .fail
      settlement.failure = .deadline(record.spec.options.schedule.deadline ?? now)
      settlement.attempt.error = settlement.failure
      settlement.attempt.outcome = .failed
      settlement.reason = settlement.failure?.message
      removesPartFile = isPartFileUseless(after: error)
    case .cancel, .remove: settleCancelled()
    case .preemption: settleDisplaced(by: "a job with a higher priority took its slot")
    case .window: settleDisplaced(by: "its window \(record.spec.options.schedule.window?.description ?? "") has closed")
    case .restart: settleInterrupted(by: "its settings changed")
    case .quota: settleInterrupted(by: "the quota of the day is used up")
    case .shutdown: settleInterrupted(by: "the daemon stopped")
    }
  }

  /// The attempt was no failure of the job, and does not count.
  private mutating func settleDisplaced(by reason: String) {
    settlement.event = .requeue
    settlement.isUncounted = true
    settlement.reason = reason
    settlement.attempt.outcome = .interrupted
  }

  /// The job begins to count its attempts anew.
  private mutating func settleInterrupted(by reason: String) {
    settlement.event = .requeue
    settlement.resetAttempts = true
    settlement.reason = reason
    settlement.attempt.outcome = .interrupted
  }

  private mutating func settleCancelled() {
    settlement.event = .cancel
    settlement.reason = "cancelled by request"
    settlement.bytesDone = 0
    settlement.resumeData = .clear
    settlement.attempt.outcome = .cancelled
    removesPartFile = true
  }

  private mutating func settleFailed(
    _ error: TransferError, _ record: JobRecord, isProgress: Bool, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    var failure = JobFailure(error, of: record.job.kind)
    if let status = failure.httpStatus, record.spec.options.network.retryStatus.contains(status) {
      failure.transient = true
    }
    settlement.failure = failure
    settlement.attempt.outcome = .failed
    settlement.attempt.error = failure
    settlement.reason = failure.message
    let failedAttempts = isProgress ? 1 : record.job.attempt
    let isUncounted = Self.uncounted.contains(failure.code)
    guard failure.transient, isUncounted || failedAttempts < record.job.maxAttempts else {
      settlement.event = .fail
      if failure.transient, record.beginsTooOften { noteBeginnings(record) }
      removesPartFile = isPartFileUseless(after: error)
      return
    }
    settlement.event = .postpone
    settlement.isUncounted = isUncounted
    settlement.retryDelay =
      isUncounted
      ? Self.unavailableDelay(failure.code, after: record, using: &generator)
      : Self.policy.delay(forAttempt: failedAttempts, retryAfter: error.retryAfter, using: &generator)
    guard !isUncounted, let retryFor = record.spec.options.schedule.retryFor else { return }
    let since = isProgress ? now : record.failingSince ?? now
    if now.addingTimeInterval(settlement.retryDelay.seconds) > since.addingTimeInterval(retryFor) {
      settlement.event = .fail
      if record.beginsTooOften { noteBeginnings(record) }
      removesPartFile = isPartFileUseless(after: error)
    }
  }

  /// Says why attempts that received bytes did not count as progress. A PUT, and a download from a server without byte ranges,
  /// always begin anew.
  private mutating func noteBeginnings(_ record: JobRecord) {
    let count = record.receivedBefore.beginnings
    settlement.failure?.message +=
      "; \(count) of the last attempts had to begin anew: the file changed each time, or its transfer cannot be resumed"
    settlement.attempt.error = settlement.failure
    settlement.reason = settlement.failure?.message
  }

  /// The delay before the next attempt while something of this machine is missing: about double the last one, with jitter, so that many jobs do not
  /// retry at once. These attempts are not counted, so the delay is computed from the last one.
  private static func unavailableDelay(
    _ code: JobFailure.Code, after record: JobRecord, using generator: inout some RandomNumberGenerator
  ) -> Duration {
    let last = record.job.error?.code == code ? Double(record.retryDelayMilliseconds) / 1000 : 0
    let longest = min(maximumUnavailableDelay, max(2, last * 3))  // checked: Doubles do not trap
    // checked: longest is 2 or more, by the line above
    return .seconds(Double.random(in: longest / 2...longest, using: &generator))
  }

  /// Whether no later attempt can use the part file: after a wrong digest, or if the file is too large.
  private func isPartFileUseless(after error: TransferError) -> Bool {
    switch error {
    case .verification, .file(.tooLarge): true
    default: settlement.resumeData == .clear
    }
  }
}

extension JobRecord {
  /// After so many beginnings from byte 0, bytes are no progress: a server that alternates between versions of a file, and breaks
  /// off each of them, would be asked for ever.
  static let maximumBeginnings = 20

  /// Whether an attempt that leaves this many bytes made progress.
  /// - Parameter isResumed: it continued after bytes that were there.
  func isProgress(to bytes: Int64, isResumed: Bool) -> Bool {
    bytes > job.bytesDone && !beginsTooOften && (isResumed || mayGainFirstBytes)
  }

  var beginsTooOften: Bool { receivedBefore.beginnings >= Self.maximumBeginnings }

  /// Whether bytes are progress for this job because it has had none. Not if its count of attempts began anew after some had
  /// come: a server that takes bytes back and gives them again would be asked for ever.
  private var mayGainFirstBytes: Bool {
    job.bytesDone == 0 && (job.attempt == attemptNumber || receivedBefore.attempts == 0)
  }
}

extension AttemptEnd {
  init(_ response: FileResponse) {
    self.init()
    resumedFrom = response.resumedFrom
    bytesReceived = response.bytesReceived
    httpStatus = response.head?.status
    if let last = response.metrics.last { record(last) }
  }

  mutating func record(_ last: TransferMetrics) {
    remoteAddress = last.remoteAddress
    networkProtocol = last.networkProtocol
    timings = Attempt.Timings(
      nameLookup: last.nameLookup.seconds, connect: last.connect.seconds, tls: last.tls.seconds,
      firstByte: last.firstByte.seconds, total: last.total.seconds, connectionReused: last.isConnectionReused)
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18  // checked: Doubles do not trap
  }
}
