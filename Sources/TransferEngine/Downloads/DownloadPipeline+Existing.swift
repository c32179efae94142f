import WireValues

/// Downloads that may leave their destination as it is.
extension DownloadPipeline {
  /// For an error about a file that must not be replaced.
  static func unknownVersion(_ path: String) -> String { "\(path) (not a version that was fetched before)" }

  /// The question with the condition that the server has another version. A range has its own condition.
  static func question(_ question: RangeQuestion, _ context: AttemptContext) -> RangeQuestion {
    var question = question
    if !question.isRanged { question.unless = context.existing?.condition }
    return question
  }

  /// Ends an attempt whose bytes have arrived, or whose destination stays.
  func complete(_ context: inout AttemptContext) async throws(TransferError) -> String {
    if let kept = context.kept { return keep(kept, &context) }
    return try await finish(&context)
  }

  /// Ends an attempt that leaves the destination as it is. Nothing is kept of an earlier attempt.
  /// - Returns: the destination's path.
  func keep(_ kept: KeptFile, _ context: inout AttemptContext) -> String {
    if let part = context.part { part.directory.removePart(part.name) }
    context.part = nil
    context.resumeData = nil
    (context.onDisk, context.resumedFrom, context.total) = (0, 0, nil)
    context.kept = kept
    return plan.destination.directory.appendingName(kept.name)
  }

  /// The destination, if it stays and no request is needed to know that.
  func keptWithoutRequest(
    _ context: inout AttemptContext, _ directory: Directory?
  ) async throws(TransferError) -> KeptFile? {
    let name = plan.destination.name
    switch context.existing {
    case .skip?: return KeptFile(name: name, outcome: .skipped)
    case .verify(let stamp)? where !plan.expectedDigests.isEmpty:
      guard await isVerified(name, stamp, plan.expectedDigests, directory) else {
        context.existing = .fetch(.always)
        return nil
      }
      if Task.isCancelled { throw .cancelled }
      return KeptFile(name: name, outcome: .unchanged)
    case nil, .fetch?, .ask?, .compare?, .verify?, .fail?: return nil
    }
  }

  /// Whether the destination has these digests.
  func isVerified(
    _ name: String, _ stamp: FileStamp, _ digests: [ExpectedDigest], _ directory: Directory?
  ) async -> Bool {
    guard let directory else { return false }
    let isRestricted = !plan.rules.isEmpty && plan.rules.roots != nil
    return await BlockingIO.value {
      guard
        let actual = directory.digests(
          of: name, stamp, Set(digests.map(\.algorithm)), isRestricted: isRestricted)
      else { return false }
      return digests.allSatisfy { actual[$0.algorithm] == $0.hex }
    }
  }

  /// The destination of a download by FTP or SFTP, if the server's file has the same size and time. These protocols have no
  /// conditional requests, so the facts are asked for first. A server that does not report both is asked for the file.
  /// - Throws: `.destinationExists`.
  func keptRemote(
    _ context: AttemptContext, _ request: TransferRequest
  ) async throws(TransferError) -> KeptFile? {
    let record: FileRecord?
    let stamp: FileStamp
    let replacement: Replacement
    switch context.existing {
    case .ask(let known, let rule)?: (record, stamp, replacement) = (known, known.stamp, rule)
    case .compare(let found, let rule)?: (record, stamp, replacement) = (nil, found, rule)
    case nil, .fetch?, .verify?, .skip?, .fail?: return nil
    }
    // Bytes of a version that was begun before show that the file has changed.
    guard context.onDisk == 0 else { return nil }
    guard let facts = try await RemoteFiles(session: session, request: request).stat(request.url) else { return nil }
    if Task.isCancelled { throw .cancelled }
    let theirs = Validators(of: facts)
    let name = plan.destination.name
    if let record {
      guard facts.size == stamp.size, let time = theirs.modificationTime, time == record.validators.modificationTime
      else { return nil }
      return KeptFile(name: name, outcome: .unchanged, record: record)
    }
    if stamp.matches(theirs, total: facts.size) {
      return KeptFile(name: name, outcome: .unchanged, record: FileRecord(validators: theirs, stamp: stamp))
    }
    guard replacement == .never else { return nil }
    throw .file(.destinationExists(Self.unknownVersion(plan.destination.directory.appendingName(name))))
  }
}
