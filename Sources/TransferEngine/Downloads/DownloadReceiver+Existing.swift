import WireValues

/// Responses with a file that is at the destination already.
extension DownloadReceiver {
  /// The ending for a 304.
  func unchanged(_ head: ResponseHead) throws(TransferError) -> Ending {
    guard case .ask(let record, _)? = existing else {
      throw .response(.unacceptableStatus(head.status, retryAfter: nil))
    }
    let confirmed = FileRecord(validators: record.validators.confirmed(by: head), stamp: record.stamp)
    return .kept(KeptFile(name: plan.destination.name, outcome: .unchanged, record: confirmed))
  }

  /// The ending for a response that would bring the whole file; `nil`: it is fetched.
  /// - Throws: `.destinationExists`.
  func endingOfExisting(_ head: ResponseHead, total: Int64?) throws(TransferError) -> Ending? {
    let name = plan.name(for: head)
    if existing == nil, plan.chooser == nil, let directory { existing = try plan.examine(name, in: directory) }
    let theirs = Validators(of: head)
    switch existing {
    case nil, .fetch?: return nil
    case .fail?: throw .file(.destinationExists(plan.destination.directory.appendingName(name)))
    case .skip?: return .kept(KeptFile(name: name, outcome: .skipped))
    case .ask(let record, _)?:
      // The server ignores the condition, but says that the version is the same.
      guard record.validators.agreeStrongly(with: theirs), total == record.stamp.size else { return nil }
      return .kept(KeptFile(name: name, outcome: .unchanged, record: record))
    case .compare(let stamp, let replacement)?:
      if stamp.matches(theirs, total: total) {
        let record = FileRecord(validators: theirs, stamp: stamp)
        return .kept(KeptFile(name: name, outcome: .unchanged, record: record))
      }
      guard replacement == .never else { return nil }
      throw .file(.destinationExists(DownloadPipeline.unknownVersion(plan.destination.directory.appendingName(name))))
    case .verify(let stamp)?:
      let digests = plan.expectedDigests + DeclaredDigests.of(head)
      guard !digests.isEmpty, total == nil || total == stamp.size else { return nil }
      return .verify(name: name, stamp, digests)
    }
  }
}
