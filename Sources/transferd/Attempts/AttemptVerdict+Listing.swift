import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

extension AttemptVerdict {
  /// A listing has no bytes; directories that are done are its progress.
  init(
    listing response: ListingResponse, of record: JobRecord, stop: StopReason?, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .complete, bytesDone: 0, bytesTotal: nil)
    guard let error = response.error else {
      settlement.attempt.outcome = .completed
      settlement.reason = response.summary
      return
    }
    let isProgress = response.directoriesDone > 0
    settlement.resetAttempts = isProgress
    settleUnsuccessful(error, stop, record, isProgress: isProgress, now: now, using: &generator)
    removesPartFile = false
    guard response.directoriesFailed > 0, settlement.event == .fail else { return }
    settlement.reason = settlement.reason.map {
      "\($0); \(response.directoriesFailed) could not be listed; found \(response.summary)"
    }
  }
}
