import HTTPTypes
import WireValues

/// Further connections for one file.
extension DownloadPipeline {
  /// Starts the task that runs them. Called on the loop's thread when the head of the file has arrived.
  /// - Parameter base: the attempt's request before redirects: a redirect's target may be signed for a few minutes only.
  func beginSegments(_ board: SegmentBoard, _ base: TransferRequest, _ checkpoints: Checkpointer) {
    let probed = ProbedSources(lead: plan.lead, base)
    let crew = SegmentCrew(
      board: board, segmentation: plan.segmentation, sources: plan.sources, lead: plan.lead,
      prepare: { () async throws(TransferError) in try await prepareSegments(board, checkpoints) },
      fetch: { await fetch($0, of: $1, board, probed, checkpoints) },
      probe: { await probe($0, board, probed, checkpoints) },
      check: { piece in
        guard let pieces = plan.sources.pieces, let (part, _) = checkpoints.file else { return nil }
        return await BlockingIO.value { try? part.isGood(piece, pieces, total: board.total) }
      },
      didGiveUp: { session.notify(core.id, .refuseToResume(reason: "one connection is used: \($0)")) })
    board.start { await crew.run() }
  }

  /// Before the first byte of another segment is written, a durable record has to say that there are segments. Without it, the
  /// next attempt after a kill would use the part file's length as the number of valid bytes.
  private func prepareSegments(_ board: SegmentBoard, _ checkpoints: Checkpointer) async throws(TransferError) {
    guard let (part, _) = checkpoints.file else { throw .cancelled }
    let total = board.total
    try await BlockingIO.run { () throws(TransferError) in
      // It only keeps the file in few pieces. A disk that is really full refuses a write.
      part.reserveSpace(total)
      board.beginSegments { completed in
        PieceMap.create(
          in: part.directory, partialName: part.name, PieceMap.Subject(part: part.identity, total: total), completed)
      }
    }
    guard await checkpoints.flush() else { throw checkpoints.failure ?? .cancelled }
  }

  /// Fetches one segment, and follows the redirects of its request.
  private func fetch(
    _ segment: SegmentPlan.Segment, of source: Int, _ board: SegmentBoard, _ probed: ProbedSources,
    _ checkpoints: Checkpointer
  ) async -> SegmentOutcome {
    guard let (part, data) = checkpoints.file, segment.rest > 0, let base = probed[source] else { return .ended }
    let validators = source == plan.lead ? data.validators : base.validators
    var request = base.request
    request.headers[.range] = "bytes=\(segment.position)-\(segment.end - 1)"  // checked: the rest is not empty
    request.headers[.ifRange] = validators.conditions.first
    request.headers[.acceptEncoding] = "identity"
    var hops = 0
    while true {
      let receiver = SegmentReceiver(
        board: board, segment: segment.id, start: segment.position, part: part, validators: validators,
        confirms: source == plan.lead,
        didWrite: { progress, bytes in
          plan.sources.receive(bytes, from: source)
          core.report(TransferProgress(completed: progress.completed, total: board.total))
          if progress.isCheckpointDue { checkpoints.signal(isWaiting: false) }
        })
      let outcome = await transfer(request, segment.id, board, receiver)
      guard let redirect = receiver.redirect, case .finished = outcome else {
        return Self.outcome(outcome, receiver)
      }
      guard
        let next = try? await session.redirected(
          request, redirect, hops: hops, id: core.id, handler: core.redirectHandler)
      else { return .refused(reason: "a redirect is not followed") }
      request = next
      hops += 1
    }
  }

  /// Runs one transfer on a connection of its own: streams of one HTTP/2 connection would share its rate.
  func transfer(
    _ request: TransferRequest, _ segment: Int?, _ board: SegmentBoard, _ receiver: any TransferReceiver
  ) async -> TransferOutcome {
    let id = TransferID()
    do throws(TransferError) {
      let loop = try session.performer(for: request.url)
      if let segment {
        board.register(segment) {
          id.cancel()
          Task { await loop.cancel(id) }
        }
      }
      var wire = session.wireRequest(request)
      wire.maximumHTTPVersion = .http1_1
      return await loop.perform(wire, id: id, receiver: receiver)
    } catch {
      return .failed(error, head: nil, metrics: TransferMetrics())
    }
  }

  private static func outcome(_ outcome: TransferOutcome, _ receiver: SegmentReceiver) -> SegmentOutcome {
    if let failure = receiver.failure { return .failed(failure) }
    switch receiver.decision {
    case .refuse(let reason)?: return .refused(reason: reason)
    case .wait(let status, _)?: return .overloaded(reason: "the server responded \(status)")
    case .take?, nil: break
    }
    switch outcome {
    case .finished: return receiver.isShort ? .broken(received: receiver.received) : .ended
    case .cancelled: return .ended
    case .failed(let error, _, _) where error.isRefusedConnection: return .overloaded(reason: "\(error)")
    case .failed(let error, _, _):
      return error.isTransient ? .broken(received: receiver.received) : .refused(reason: "\(error)")
    }
  }

  /// Discards all but the file's first bytes, for a protocol that has no segments. The record is durable before the bytes are
  /// gone: their places may be written again without a sync.
  func keepFirstBytes(_ context: inout AttemptContext) async throws(TransferError) {
    guard let pieces = context.pieces, let part = context.part, var data = context.resumeData else { return }
    let first = pieces.range(at: 0)?.upperBound ?? 0
    data.checkpointBytes = min(data.segments?.synced.range(at: 0)?.upperBound ?? 0, first)
    data.segments = nil
    do {
      try await plan.journal?.record(data)
    } catch {
      throw .hook(.journal, error)
    }
    try part.truncate(to: first)
    (context.pieces, context.onDisk, context.resumeData) = (nil, first, data)
  }

  /// The first connection has ended. Others go on if it has brought its bytes, or if only its connection failed.
  func finish(_ board: SegmentBoard, _ outcome: TransferOutcome, _ receiver: DownloadReceiver) async {
    let goesOn: Bool =
      switch outcome {
      case .finished: if case .body = receiver.ending { receiver.refusal == nil } else { false }
      case .failed(.connection, _, _), .failed(.response(.truncated), _, _), .failed(.transport, _, _): true
      case .failed: false
      case .cancelled: board.isLeadReleased || plan.sources.drop(of: plan.lead) != nil
      }
    if goesOn, case .failed(let error, _, _) = outcome, plan.sources.hasOthers(than: plan.lead),
      plan.sources.fail(plan.lead, hasReceived: false)
    {
      plan.sources.drop(plan.lead, .init(reason: "\(error)", error: error))
    }
    if !goesOn || Task.isCancelled { board.cancel() }
    // Suspending the request ends all connections; the attempt is repeated when it resumes.
    core.setTransfer(hold: { board.cancel() })
    await board.finish()
  }
}

extension TransferError {
  /// The server, or what stands before it, accepts no connection.
  var isRefusedConnection: Bool { if case .connection(.refused) = self { true } else { false } }
}
