import HTTPTypes

/// One upload from its first attempt to its last: open the source → compare it → adapt → send → compare it again.
struct UploadPipeline: Sendable {
  let session: Session
  let core: RequestCore<FileUploadResponse>
  let upload: FileUpload
  let journal: (any UploadJournal)?
  let board: UploadBoard

  /// What an attempt knows so far; what of it survives a failure makes the response.
  struct Course {
    var ledger: UploadLedger?
    var source: SourceIdentity?
    var resumedFrom: Int64 = 0
    /// Times the upload started over because the source had changed.
    var restarts = 0
  }

  /// Versions of a source that one call sends before it gives up for now.
  static let maximumRestarts = 3

  func run(from ledger: UploadLedger?, interceptor: (any RequestInterceptor)?) async -> FileUploadResponse {
    var course = Course(ledger: ledger)
    let wire = UploadWire(session: session, id: core.id, pause: { await core.waitWhileSuspended() })
    var retries = 0
    var furthest: Int64 = 0
    let start = ContinuousClock.now
    while true {
      do throws(TransferError) {
        try await attempt(&course, wire, interceptor)
        course.ledger = nil
        session.notify(core.id, .finish)
        return response(course, wire, .success(()))
      } catch {
        if error.isCancellation, !Task.isCancelled {
          // Suspended, not cancelled.
          await core.waitWhileSuspended()
          wire.allow()
          if !Task.isCancelled { continue }
        }
        if await startsOver(after: error, &course, wire, interceptor) { continue }
        // What the server took is progress; sending the same bytes for ever is none.
        let acknowledged = board.progress.acknowledged
        if acknowledged > furthest {
          retries = 0
          furthest = acknowledged
        }
        let failure = FailedAttempt(
          request: upload.request, response: wire.head, error: explained(error), retryCount: retries,
          elapsed: start.duration(to: .now))
        if let final = await session.wait(toRetry: failure, id: core.id, interceptor) {
          return failed(course, wire, final)
        }
        retries += 1  // checked: a counter of this process
        core.willRetry()
      }
    }
  }

  private func failed(_ course: Course, _ wire: UploadWire, _ error: TransferError) -> FileUploadResponse {
    session.notify(core.id, .fail(error))
    return response(course, wire, .failure(error))
  }

  private func response(
    _ course: Course, _ wire: UploadWire, _ result: Result<Void, TransferError>
  ) -> FileUploadResponse {
    var response = FileUploadResponse(result)
    response.head = wire.head
    response.ledger = course.ledger
    response.metrics = wire.metrics
    response.bytesSent = wire.bytesSent
    response.bytesAcknowledged = board.progress.acknowledged
    response.totalBytes = course.source?.size
    response.resumedFrom = course.resumedFrom
    response.source = course.source
    response.respondingOrigin = wire.respondingOrigin
    return response
  }

  /// Whether the source changed and the policy is to send the new version: then nothing of the old one stays.
  private func startsOver(
    after error: TransferError, _ course: inout Course, _ wire: UploadWire, _ interceptor: (any RequestInterceptor)?
  ) async -> Bool {
    guard case .source(.changed) = error, upload.onChange == .restart, !Task.isCancelled else { return false }
    if let ledger = course.ledger {
      // At best effort: the new version must not wait for the old one's leftovers.
      try? await session.removeLeftovers(upload, ledger, wire, interceptor)
      course.ledger = nil
    }
    board.start(total: course.source?.size ?? 0, acknowledged: 0)
    course.restarts += 1
    return course.restarts <= Self.maximumRestarts
  }

  private func explained(_ error: TransferError) -> TransferError {
    guard case .source(.changed(let path)) = error, upload.onChange == .restart else { return error }
    return .source(.keepsChanging(path))
  }

  // MARK: One attempt

  private func attempt(
    _ course: inout Course, _ wire: UploadWire, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) {
    await core.waitWhileSuspended()
    if Task.isCancelled { throw .cancelled }
    let (path, rules) = (upload.source, upload.rules)
    let source = try await BlockingIO.run { () throws(TransferError) in try OpenSource(path: path, rules: rules) }
    if let ledger = course.ledger, ledger.source != source.identity { throw .source(.changed(path)) }
    course.source = source.identity
    let request = try await session.adapted(upload.request, interceptor)
    if let ledger = course.ledger, ledger.target != upload.request.url.ledgerTarget {
      try? await session.removeLeftovers(upload, ledger, wire, interceptor)
      course.ledger = nil
    }
    let keeper = LedgerKeeper(course.ledger, journal: journal)
    board.start(total: source.size, acknowledged: course.ledger?.acknowledged ?? 0)
    core.setTransfer(hold: { wire.interrupt() })
    defer { core.setTransfer(hold: nil) }
    let attempt = UploadAttempt(
      upload: upload, request: request, source: source, wire: wire, ledger: keeper, board: board)
    let way = try await session.way(of: upload, request, wire)
    do throws(TransferError) {
      try await way.perform(attempt)
      // Once more after the last answer: between the last byte and this moment it was still being taken for whole.
      try await BlockingIO.run { () throws(TransferError) in try source.check() }
      board.acknowledge(source.size)
      course.resumedFrom = attempt.board.resumedFrom
    } catch {
      course.ledger = keeper.ledger
      course.resumedFrom = attempt.board.resumedFrom
      throw error
    }
  }
}
