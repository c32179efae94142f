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
    case .upload(let response): self.init(uploading: response, of: record, stop: stop, using: &generator)
    }
  }

  /// Of an upload `bytesDone` is what the server said it has: nothing else can be gone on from.
  init(
    uploading response: FileUploadResponse, of record: JobRecord, stop: StopReason?,
    using generator: inout some RandomNumberGenerator
  ) {
    settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .complete, bytesDone: response.bytesAcknowledged,
      bytesTotal: response.totalBytes ?? record.job.bytesTotal)
    settlement.attempt = AttemptEnd(response)
    guard let error = response.error else {
      becomeUploaded(response, record)
      return
    }
    if let ledger = response.ledger {
      settlement.resumeData = .set(ledger.encoded())
    } else if response.source == nil {
      // It ended before it looked at what there was to go on from.
      settlement.bytesDone = record.job.bytesDone
    } else {
      settlement.resumeData = .clear
      settlement.bytesDone = 0
    }
    let isProgress = settlement.bytesDone > record.job.bytesDone
    settlement.resetAttempts = isProgress
    end(error, stop, record, isProgress: isProgress, using: &generator)
    if settlement.event == .cancel { settlement.aftermath.leftovers = response.ledger?.encoded() }
    removesPartFile = settlement.event == .cancel
  }

  private mutating func becomeUploaded(_ response: FileUploadResponse, _ record: JobRecord) {
    settlement.bytesDone = response.totalBytes ?? response.bytesAcknowledged
    settlement.bytesTotal = settlement.bytesDone
    settlement.resumeData = .clear
    settlement.attempt.outcome = .completed
    guard record.spec.spool == nil, record.spec.upload.onSuccess != .keep, let source = response.source else { return }
    settlement.aftermath.fileAction = PendingFileAction(
      job: record.job.id, owner: record.spec.owner, path: record.spec.source, action: record.spec.upload.onSuccess,
      stamp: SourceStamp(source))
  }
}

extension SourceStamp {
  init(_ source: SourceIdentity) {
    self.init(device: source.device, inode: source.inode, size: source.size, modified: source.modified)
  }
}

extension AttemptEnd {
  init(_ response: FileUploadResponse) {
    self.init()
    resumedFrom = response.resumedFrom
    bytesReceived = response.bytesSent
    httpStatus = response.head?.status
    if let last = response.metrics.last { note(last) }
  }
}
