import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

extension AttemptVerdict {
  init(
    _ response: AttemptResponse, of record: JobRecord, stop: StopReason?, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    switch response {
    case .download(let response): self.init(response, of: record, stop: stop, now: now, using: &generator)
    case .upload(let response): self.init(uploading: response, of: record, stop: stop, now: now, using: &generator)
    case .listing(let response): self.init(listing: response, of: record, stop: stop, now: now, using: &generator)
    }
  }

  /// For an upload `bytesDone` counts the bytes that the server acknowledged, because an upload can resume only from there.
  init(
    uploading response: FileUploadResponse, of record: JobRecord, stop: StopReason?, now: Date,
    using generator: inout some RandomNumberGenerator
  ) {
    settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .complete, bytesDone: response.bytesAcknowledged,
      bytesTotal: response.totalBytes ?? record.job.bytesTotal)
    settlement.attempt = AttemptEnd(response)
    guard let error = response.error else {
      settleUploaded(response, record)
      return
    }
    if let ledger = response.ledger {
      settlement.resumeData = .set(ledger.encoded())
    } else if response.source == nil {
      // The attempt ended before it examined the stored state.
      settlement.bytesDone = record.job.bytesDone
    } else {
      settlement.resumeData = .clear
      settlement.bytesDone = 0
    }
    let isProgress = record.isProgress(to: settlement.bytesDone, isResumed: record.job.bytesDone > 0)
    settlement.resetAttempts = isProgress
    settleUnsuccessful(error, stop, record, isProgress: isProgress, now: now, using: &generator)
    if settlement.event == .cancel { settlement.followUp.leftovers = response.ledger?.encoded() }
    removesPartFile = settlement.event == .cancel
  }

  private mutating func settleUploaded(_ response: FileUploadResponse, _ record: JobRecord) {
    settlement.bytesDone = response.totalBytes ?? response.bytesAcknowledged
    settlement.bytesTotal = settlement.bytesDone
    settlement.resumeData = .clear
    settlement.attempt.outcome = .completed
    let action = record.spec.options.onSuccess
    guard record.spec.spool == nil, action != .keep, let source = response.source else { return }
    settlement.followUp.fileAction = PendingFileAction(
      job: record.job.id, owner: record.spec.owner, path: record.spec.source, action: action,
      stamp: source)
  }
}

extension AttemptEnd {
  init(_ response: FileUploadResponse) {
    self.init()
    resumedFrom = response.resumedFrom
    bytesReceived = response.bytesSent
    httpStatus = response.head?.status
    if let last = response.metrics.last { record(last) }
  }
}
