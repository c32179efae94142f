import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

/// Why a running attempt was stopped from here.
enum StopReason: Int, Comparable, Sendable {
  /// Its settings changed: it goes on at once, with the new ones.
  case restart
  /// The daemon ends.
  case shutdown
  case pause
  case cancel
  /// As cancel; the row goes too.
  case remove

  /// The stronger wish wins: what a person asked for outlives a daemon that ends.
  static func < (lhs: StopReason, rhs: StopReason) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What becomes of a job when its attempt has ended. Pure.
struct AttemptVerdict {
  var settlement: Settlement
  /// The part file is of no more use, and has to go before the row says so.
  var removesPartFile = false

  /// The policy for jobs: 20 tries in a row without progress, 1 s at first, doubled up to 5 minutes, full jitter.
  static let policy = RetryPolicy(
    retryLimit: 19, exponentialBackoffBase: 2, exponentialBackoffScale: 1, maximumDelay: .seconds(300))
  /// Seconds after which a full disk is looked at again at the latest: space is freed by people, without telling us.
  static let diskFullDelay = 30.0

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
      // It ended before it looked at the part file.
      settlement.bytesDone = record.job.bytesDone
    }
    // Net bytes that the next try can build on: what a try from 0 brings again is no progress.
    let isProgress =
      settlement.bytesDone > record.job.bytesDone && (response.resumedFrom > 0 || record.job.bytesDone == 0)
    settlement.resetAttempts = isProgress
    guard let error = response.error else {
      settlement.bytesDone = response.bytesOnDisk
      settlement.resumeData = .clear
      settlement.attempt.outcome = .completed
      settlement.reason = response.verification == .some(.none) ? "length unverified" : nil
      return
    }
    end(error, stop, record, isProgress: isProgress, using: &generator)
  }

  /// What becomes of a job whose attempt did not succeed.
  mutating func end(
    _ error: TransferError, _ stop: StopReason?, _ record: JobRecord, isProgress: Bool,
    using generator: inout some RandomNumberGenerator
  ) {
    switch stop {
    case .pause? where error.isCancelled:
      settlement.event = .pause
      settlement.resetAttempts = true
      settlement.reason = "paused by request"
      settlement.attempt.outcome = .paused
    case .cancel? where error.isCancelled, .remove? where error.isCancelled:
      becomeCancelled()
    case .restart? where error.isCancelled, .shutdown? where error.isCancelled:
      settlement.event = .requeue
      settlement.resetAttempts = true
      settlement.reason = stop == .restart ? "its settings changed" : "the daemon stopped"
      settlement.attempt.outcome = .interrupted
    default:
      becomeFailed(error, record, isProgress: isProgress, using: &generator)
    }
  }

  private mutating func becomeCancelled() {
    settlement.event = .cancel
    settlement.reason = "cancelled by request"
    settlement.bytesDone = 0
    settlement.resumeData = .clear
    settlement.attempt.outcome = .cancelled
    removesPartFile = true
  }

  private mutating func becomeFailed(
    _ error: TransferError, _ record: JobRecord, isProgress: Bool, using generator: inout some RandomNumberGenerator
  ) {
    let failure = JobFailure(error, of: record.job.kind)
    settlement.failure = failure
    settlement.attempt.outcome = .failed
    settlement.attempt.error = failure
    settlement.reason = failure.message
    let failedTries = isProgress ? 1 : record.job.attempt
    let isDiskFull = failure.code == .diskFull
    guard failure.transient, isDiskFull || failedTries < record.job.maxAttempts else {
      settlement.event = .fail
      removesPartFile = response(error, spoils: record)
      return
    }
    settlement.event = .postpone
    settlement.isUncounted = isDiskFull
    settlement.retryDelay =
      isDiskFull
      ? Self.untilNextLook(after: record, using: &generator)
      : Self.policy.delay(forAttempt: failedTries, retryAfter: error.retryAfter, using: &generator)
  }

  /// About twice as long each time, by chance, so that many jobs do not look at once. These tries are not counted: the last
  /// wait tells how long the next one is.
  private static func untilNextLook(
    after record: JobRecord, using generator: inout some RandomNumberGenerator
  ) -> Duration {
    let last = record.job.error?.code == .diskFull ? Double(record.retryDelayMilliseconds) / 1000 : 0
    let most = min(diskFullDelay, max(2, last * 3))  // checked: Doubles do not trap
    // checked: most is 2 at least, by the line above
    return .seconds(Double.random(in: most / 2...most, using: &generator))
  }

  /// A wrong digest leaves nothing to go on from.
  private func response(_ error: TransferError, spoils record: JobRecord) -> Bool {
    if case .verification = error { true } else { settlement.resumeData == .clear }
  }
}

extension TransferError {
  var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

extension AttemptEnd {
  init(_ response: FileResponse) {
    self.init()
    resumedFrom = response.resumedFrom
    bytesReceived = response.bytesReceived
    httpStatus = response.head?.status
    if let last = response.metrics.last { note(last) }
  }

  mutating func note(_ last: TransferMetrics) {
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
