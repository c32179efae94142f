import Store
import TransferAPI
import TransferEngine

extension AttemptVerdict {
  /// The job waits for space on a disk, or for room in the spool.
  var isWaitingForRoom: Bool { settlement.event == .postpone && settlement.failure?.code == .diskFull }

  /// What the end of a relay's transfer means for the relay. The verdict was made for the download or the upload alone.
  /// - Parameters:
  ///   - response: of the transfer.
  ///   - keepsBytes: whether a download that was refused more room keeps what it has.
  ///   - limit: `spoolMax`.
  mutating func settleRelay(_ response: AttemptResponse, _ phase: RelayPhase, keepsBytes: Bool, limit: Int64) {
    switch phase {
    case .upload: return
    case .download: break
    }
    guard let error = response.error else {
      Self.beginUpload(&settlement)
      return
    }
    // The room of a part file is counted by the job's row: bytes that the row does not record must not stay.
    if settlement.resumeData == .clear { removesPartFile = true }
    switch error {
    case .file(.tooLarge(limit)):
      settlement.failure?.message = "the file is larger than spoolMax, \(limit) bytes, which the spool may have"
      settlement.attempt.error = settlement.failure
      settlement.reason = settlement.failure?.message
    case .file(.diskFull) where settlement.event == .postpone && !keepsBytes:
      // Another relay may wait for these bytes.
      (settlement.resumeData, settlement.bytesDone, removesPartFile) = (.clear, 0, true)
    default: break
    }
  }

  /// The copy of a relay has its name, durably: the relay uploads it next.
  static func beginUpload(_ settlement: inout Settlement) {
    settlement.event = .requeue
    settlement.beginsUpload = true
    let bytes = settlement.bytesTotal ?? settlement.bytesDone
    (settlement.bytesDone, settlement.bytesTotal) = (0, bytes)
    settlement.resumeData = .clear
    settlement.reason = "the file is in the spool; its upload begins"
    settlement.fileRecord = nil
  }

  /// The bytes of the spool that the relay has after this; `nil`: none.
  func copyBytes(of phase: RelayPhase) -> Int64? {
    switch settlement.event {
    case .complete, .cancel: return nil
    default: break
    }
    if settlement.beginsUpload || phase == .upload { return settlement.bytesTotal }
    guard settlement.bytesDone > 0, settlement.resumeData != .clear, !removesPartFile else { return nil }
    return max(settlement.bytesDone, settlement.bytesTotal ?? 0)
  }
}
