import WireValues

/// Runs one upload: open the source → compare it → adapt → send → compare it again → (retry).
struct UploadPipeline: AttemptPipeline, Sendable {
  let session: Session
  let core: RequestCore<FileUploadResponse>
  let interceptor: (any RequestInterceptor)?
  let upload: FileUpload
  let journal: (any UploadJournal)?
  let tracker: UploadTracker

  /// The state of an attempt. What survives a failure becomes the response.
  struct AttemptContext {
    let wire: UploadClient
    var ledger: UploadLedger?
    var source: SourceIdentity?
    var resumedFrom: Int64 = 0
    /// How often the upload started over because the source had changed.
    var restarts = 0
    /// The first attempt's transfer, if it has already ended.
    var adopted: AdoptedUpload?
    /// The most bytes that the server had acknowledged after any attempt.
    var furthest: Int64 = 0
  }

  /// How many changed versions of the source one attempt sends before it fails.
  static let maximumRestarts = 3

  /// - Parameter adopted: a transfer that a group has done for this upload. It counts as the plain upload of the first
  ///   attempt.
  func run(from ledger: UploadLedger?, adopting adopted: AdoptedUpload? = nil) async -> FileUploadResponse {
    let wire = UploadClient(core.record, adopting: adopted, pause: { await core.waitWhileSuspended() })
    var (pipeline, context) = (self, AttemptContext(wire: wire, ledger: ledger, adopted: adopted))
    if let error = await pipeline.run(&context) {
      session.notify(core.id, .fail(error))
      return response(context, .failure(error))
    }
    context.ledger = nil
    session.notify(core.id, .finish)
    return response(context, .success(()))
  }

  func decide(after error: TransferError, _ context: inout AttemptContext) async -> AttemptDecision {
    if error.isCancellation, !Task.isCancelled {
      // Suspended, not cancelled.
      await core.waitWhileSuspended()
      context.wire.allow()
      if !Task.isCancelled { return .attemptAgain() }
    }
    if await startsOver(after: error, &context) { return .attemptAgain() }
    // Only bytes that the server acknowledged are progress: sending the same bytes again is none.
    let acknowledged = tracker.progress.acknowledged
    let madeProgress = acknowledged > context.furthest
    if madeProgress { context.furthest = acknowledged }
    return .askRetriers(
      request: upload.request, response: context.wire.head, error: explained(error), madeProgress: madeProgress)
  }

  private func response(_ context: AttemptContext, _ result: Result<Void, TransferError>) -> FileUploadResponse {
    let wire = context.wire
    var response = FileUploadResponse(result)
    response.head = wire.head
    response.ledger = context.ledger
    response.metrics = wire.metrics
    response.bytesSent = wire.bytesSent
    response.bytesAcknowledged = tracker.progress.acknowledged
    response.totalBytes = context.source?.size
    response.resumedFrom = context.resumedFrom
    response.source = context.source
    response.respondingOrigin = wire.respondingOrigin
    return response
  }

  /// Whether the source changed and the new version has to be sent. Deletes what the server has of the old version.
  private func startsOver(after error: TransferError, _ context: inout AttemptContext) async -> Bool {
    guard case .source(.changed) = error, upload.onChange == .restart, !Task.isCancelled else { return false }
    if let ledger = context.ledger {
      // Ignores failures: the new version must not wait for the cleanup.
      try? await session.removeLeftovers(upload, ledger, context.wire, interceptor)
      context.ledger = nil
    }
    tracker.start(total: context.source?.size ?? 0, acknowledged: 0)
    context.restarts += 1
    return context.restarts <= Self.maximumRestarts
  }

  private func explained(_ error: TransferError) -> TransferError {
    guard case .source(.changed(let path)) = error, upload.onChange == .restart else { return error }
    return .source(.keepsChanging(path))
  }

  // MARK: One attempt

  func attempt(_ context: inout AttemptContext) async throws(TransferError) {
    if let adopted = context.adopted {
      context.adopted = nil
      context.source = adopted.source.identity
      return try await send(adopted.request, adopted.source, &context, PlainUpload(form: nil))
    }
    await core.waitWhileSuspended()
    if Task.isCancelled { throw .cancelled }
    let (path, rules) = (upload.source, upload.rules)
    let source = try await BlockingIO.run { () throws(TransferError) in try OpenSource(path: path, rules: rules) }
    if let ledger = context.ledger, ledger.source != source.identity { throw ledger.errorOfChangedSource(upload) }
    context.source = source.identity
    let request = try await session.adapted(core.authenticated(upload.request), interceptor, core.record)
    if let ledger = context.ledger, ledger.target != upload.request.url.ledgerTarget {
      try? await session.removeLeftovers(upload, ledger, context.wire, interceptor)
      context.ledger = nil
    }
    try await send(request, source, &context, nil)
  }

  /// - Parameter strategy: `nil` to choose one.
  private func send(
    _ request: TransferRequest, _ source: OpenSource, _ context: inout AttemptContext,
    _ strategy: (any UploadStrategy)?
  ) async throws(TransferError) {
    let wire = context.wire
    let keeper = LedgerWriter(context.ledger, journal: journal)
    tracker.start(total: source.size, acknowledged: context.ledger?.acknowledged ?? 0)
    core.setTransfer(hold: { wire.interrupt() })
    defer { core.setTransfer(hold: nil) }
    let attempt = UploadAttempt(
      upload: upload, request: request, source: source, wire: wire, ledger: keeper, tracker: tracker)
    do throws(TransferError) {
      if let strategy {
        try await strategy.perform(attempt)
      } else {
        try await session.strategy(of: upload, request, wire).perform(attempt)
      }
      // Compares once more after the last response: the source may have changed after its last byte was read.
      try await BlockingIO.run { () throws(TransferError) in try source.check() }
      tracker.acknowledge(source.size)
      context.resumedFrom = attempt.tracker.resumedFrom
    } catch {
      context.ledger = keeper.ledger
      context.resumedFrom = attempt.tracker.resumedFrom
      throw error
    }
  }
}
