import HTTPTypes
import Synchronization
import WireValues

/// One transfer of a download, from its objects to its results.
extension DownloadPipeline {
  /// Runs one transfer with its checkpoints, and takes over its results. A transfer that is already running is only waited
  /// for.
  /// - Parameter base: the attempt's request before redirects, with which further connections begin.
  func transfer(
    _ context: inout AttemptContext, _ request: TransferRequest, _ directory: Directory?, _ question: RangeQuestion,
    _ isDecoding: Bool, base: TransferRequest
  ) async throws(TransferError) -> DownloadReceiver {
    if let adopted = context.adopted {
      context.adopted = nil
      (context.origin, context.request) = (request.url.origin, request)
      return try await end(adopted.running, await adopted.outcome, &context)
    }
    await core.waitWhileSuspended()
    let id = TransferID()
    let loop = try session.performer(for: request.url)
    let running = makeTransfer(context, request, directory, question, isDecoding, id, loop, base: base)
    (context.origin, context.request) = (request.url.origin, request)
    core.setTransfer(hold: {
      id.cancel()
      Task { await loop.cancel(id) }
    })
    core.record.willSend(request)
    var wire = session.wireRequest(request, acceptEncoding: isDecoding ? "identity" : nil)
    wire.didReceiveHead = { [record = core.record] in record.didReceive($0) }
    wire.remote?.operation = .read(from: question.start)
    return try await end(running, await loop.perform(wire, id: id, receiver: running.receiver), &context)
  }

  /// Makes the receiver of a transfer, and its checkpoints.
  /// - Parameter base: the request before redirects; `nil`: this one.
  func makeTransfer(
    _ context: AttemptContext, _ request: TransferRequest, _ directory: Directory?, _ question: RangeQuestion,
    _ isDecoding: Bool, _ id: TransferID, _ loop: any TransferPerformer, base: TransferRequest? = nil
  ) -> RunningTransfer {
    let core = core
    let checkpoints = Checkpointer(journal: plan.journal, loop: loop, id: id, plan: plan)
    let base = base ?? request
    if plan.sources.count == 0 { beginSources() }
    plan.sources.connect(plan.lead)
    var plan = plan
    (plan.continuity, plan.goodPieces) = (continuity(context), context.goodPieces)
    plan.request.redirects = plan.request.redirects ?? session.configuration.redirects
    let receiver = DownloadReceiver(
      plan: plan, directory: directory, partDirectory: context.directories?.part, question: question,
      isDecoding: isDecoding, stored: context.resumeData,
      part: context.part, pieces: context.pieces, check: headCheck(request),
      signal: { checkpoints.signal(isWaiting: $0) },
      progressed: { core.report(TransferProgress(completed: $0, total: $1)) },
      beginSegments: { board in
        board.register(board.lead) {
          id.cancel()
          Task { await loop.cancel(id) }
        }
        beginSegments(board, base, checkpoints)
      })
    receiver.existing = context.existing
    checkpoints.attach(receiver)
    return RunningTransfer(id: id, loop: loop, receiver: receiver, checkpoints: checkpoints)
  }

  /// Takes over the results of a transfer that has ended.
  private func end(
    _ running: RunningTransfer, _ outcome: TransferOutcome, _ context: inout AttemptContext
  ) async throws(TransferError) -> DownloadReceiver {
    let receiver = running.receiver
    let isShort = receiver.isShort
    if let board = receiver.board { await finish(board, outcome, receiver) }
    plan.sources.disconnect(plan.lead)
    await running.checkpoints.finish()
    core.setTransfer(hold: nil)
    core.record.didEnd(outcome)
    receiver.close()
    takeOver(receiver, isShort: isShort, into: &context)
    if let target = receiver.target, !target.parents.isEmpty {
      try await BlockingIO.run { () throws(TransferError) in try target.synchronizeParents() }
    }
    if let failure = running.checkpoints.failure ?? receiver.board?.failure { throw failure }
    // Other connections have fetched what this one left.
    if let board = receiver.board, board.isComplete, !Task.isCancelled { return receiver }
    // It was ended because its source has sent wrong bytes.
    if case .cancelled = outcome, !Task.isCancelled, let error = plan.sources.drop(of: plan.lead)?.error { throw error }
    switch outcome {
    case .cancelled: throw .cancelled
    // The status counts, even if the body of the error page was cut off.
    case .failed(let error, _, _): throw receiver.refusal ?? Self.explained(error, context)
    case .finished(_, let metrics):
      context.isEndMissing = metrics.isEndMissing
      return receiver
    }
  }

  /// The user's validations of a head, for the receiver.
  private func headCheck(_ request: TransferRequest) -> @Sendable (ResponseHead) throws(TransferError) -> Void {
    let record = core.record
    let validations = core.validations.compactMap { if case .head(let validation) = $0 { validation } else { nil } }
    return { head throws(TransferError) in
      for validation in validations {
        guard case .failure(let error) = validation(request, head) else { continue }
        let refusal = TransferError.of(.validation, error)
        record.notify(.validate(refusal))
        throw refusal
      }
      if !validations.isEmpty { record.notify(.validate(nil)) }
    }
  }

  private func takeOver(_ receiver: DownloadReceiver, isShort: Bool, into context: inout AttemptContext) {
    let shared = receiver.shared.withLock { $0 }
    context.received = context.received.saturatingSum(receiver.received)
    if let head = receiver.head { context.head = head }
    context.existing = receiver.existing
    guard case .body = receiver.ending else {
      // A file that has to wait for its space.
      if let total = receiver.total { context.total = total }
      return
    }
    context.bodyHead = receiver.head
    if let target = receiver.target { context.target = target }
    noteContributions(of: receiver, written: shared.written, in: &context)
    context.part = shared.part
    context.resumeData = shared.resumeData
    context.onDisk = shared.written
    context.pieces = nil
    if let board = receiver.board, board.isSegmented {
      (context.pieces, context.onDisk) = (board.completed, board.completed.count)
      if context.resumeData?.validators.conditions.isEmpty ?? true { context.isJoinedWithoutValidator = true }
      context.received = context.received.saturatingSum(board.received)
    }
    context.total = receiver.total
    context.digests = receiver.digests
    context.isShort = isShort && receiver.board?.isComplete != true
    if receiver.isCompared { context.comparesFrom = nil }
    if !receiver.isAppending { context.resumedFrom = 0 }
  }

  /// Which source has sent what, and which pieces of it are good.
  private func noteContributions(of receiver: DownloadReceiver, written: Int64, in context: inout AttemptContext) {
    if !receiver.isAppending { (context.contributions, context.goodPieces) = ([:], []) }
    guard let board = receiver.board else {
      let start = receiver.isAppending ? context.onDisk : 0
      // checked: start < written
      if start < written { context.contributions[plan.lead, default: ByteRanges()].insert(start..<written) }
      return
    }
    for (source, bytes) in board.contributions where source != PieceCheck.earlier {
      context.contributions[source, default: ByteRanges()].formUnion(bytes)
    }
    context.goodPieces.formUnion(board.goodPieces)
  }

  /// libcurl counts the bytes of one transfer; the error should count those of the file.
  private static func explained(_ error: TransferError, _ context: AttemptContext) -> TransferError {
    guard case .response(.truncated) = error else { return error }
    return .response(.truncated(received: context.onDisk, expected: context.total))
  }
}
