import HTTPTypes
import WireValues

/// One file from several sources.
extension DownloadPipeline {
  /// Fetches the file from the first source that is of use, with the help of the others. A source that fails is dropped for
  /// this attempt, and the next one goes on.
  /// - Returns: the path of the complete file.
  /// - Throws: the error of the best source, when none is left: of the first one that may recover, or else of the first one.
  func fileFromSources(_ context: inout AttemptContext) async throws(TransferError) -> String {
    let sources = plan.sources
    var failures: [TransferError] = []
    var rounds = 0
    // Each round drops a source, or judges pieces; the bound is a second guarantee that they end.
    while let lead = sources.lead, rounds < 4 * (sources.count + 1) {
      rounds += 1
      do throws(TransferError) {
        return try await file(&context, from: lead)
      } catch {
        guard error.concernsSource, !Task.isCancelled else { throw error }
        guard sources.count > 1 || sources.pieces != nil else { throw error }
        await settle(error, of: lead, &context)
        if sources.drop(of: lead) != nil { failures.append(sources.drop(of: lead)?.error ?? error) }
      }
      if sources.lead == nil, context.resumeData != nil, sources.reviveDisagreeing() {
        // They agree with each other, perhaps, but not with what is on disk, whose source is gone.
        discardPart(&context)
      }
    }
    throw failures.first(where: \.isTransient) ?? failures.first ?? .connection(.broken("no source is left"))
  }

  /// Fetches the file with the first connection at one source.
  private func file(_ context: inout AttemptContext, from lead: Int) async throws(TransferError) -> String {
    let source = plan.sources.source(lead)
    var pipeline = self
    pipeline.plan.lead = lead
    (pipeline.plan.request, pipeline.interceptor) = (source.request, source.interceptor)
    if plan.sources.isIsolated, context.isJoinedWithoutValidator { pipeline.plan.segmentation = Segmentation(.one) }
    guard lead > 0, let permits = source.permits else { return try await pipeline.file(&context) }
    guard await permits.acquire() else {
      throw .connection(
        .refused(host: source.request.url.host, reason: "the limits for its server leave no connection now"))
    }
    do throws(TransferError) {
      let path = try await pipeline.file(&context)
      await permits.release()
      return path
    } catch {
      await permits.release()
      throw error
    }
  }

  /// A source has failed: keeps the bytes that are of use, and drops the source, or all that have sent wrong bytes.
  private func settle(_ error: TransferError, of lead: Int, _ context: inout AttemptContext) async {
    let sources = plan.sources
    // Wrong pieces were discarded, and their sources dropped, if it was known which they were.
    let isSettled = context.hasWrongPieces || sources.drop(of: lead) != nil
    context.hasWrongPieces = false
    await saveProgress(&context)
    if isSettled { return }
    guard case .verification(.digest) = error else {
      sources.drop(lead, .init(reason: "\(error)", error: error, isDisagreement: error.isDisagreement))
      return
    }
    if context.contributors.subtracting([lead]).isEmpty {
      sources.drop(lead, .init(reason: "\(error)", error: error))
      sources.reviveDisagreeing()
    }
    // It is unknown whose bytes were wrong: from now on one source at a time fetches the whole file.
    if !sources.isIsolated {
      session.notify(core.id, .refuseToResume(reason: "the file has another digest: each source fetches it alone"))
      sources.isolate()
    }
    discardPart(&context)
  }

  /// Nothing on disk is of use.
  private func discardPart(_ context: inout AttemptContext) {
    if let data = context.resumeData {
      PartialFiles.remove(data.partialFile.name, in: data.partialFile.directory, rules: plan.rules)
    }
    (context.resumeData, context.part, context.pieces) = (nil, nil, nil)
    (context.onDisk, context.contributions, context.goodPieces) = (0, [:], [])
  }

  /// An attempt begins: all sources count again.
  func beginSources() { plan.sources.begin(DownloadSource(request: plan.request, interceptor: interceptor)) }

  // MARK: Pieces

  /// Compares the digests of all pieces that are not known to be good. Wrong ones are discarded, and their sources dropped.
  /// - Throws: `.verification` if the file is not complete then.
  func checkPieces(_ context: inout AttemptContext, _ part: PartialFile, _ size: Int64) async throws(TransferError) {
    guard let pieces = plan.sources.pieces else { return }
    guard pieces.cover(size) else {
      throw .verification(.length(expected: pieces.largestTotal, actual: size))
    }
    let good = context.goodPieces
    let wrong = try await BlockingIO.run { () throws(TransferError) in
      var wrong: [Int] = []
      for piece in 0..<pieces.count where !good.contains(piece) {
        if try !part.isGood(piece, pieces, total: size) { wrong.append(piece) }
      }
      return wrong
    }
    context.goodPieces = Set(0..<pieces.count).subtracting(wrong)
    guard let first = wrong.first else { return }
    // checked: the size of a file
    var kept = ByteRanges(0..<size)
    for piece in wrong {
      let range = pieces.range(piece, total: size)
      let culprits = context.contributions.filter { $0.value.overlaps(range) }.keys
      for source in culprits {
        context.contributions[source]?.remove(range)
        guard source >= 0, culprits.count == 1 || plan.sources.strike(source) else { continue }
        plan.sources.drop(source, .wrongPiece(piece, pieces))
      }
      kept.remove(range)
    }
    (context.pieces, context.onDisk, context.hasWrongPieces) = (kept, kept.count, true)
    context.resumeData?.totalBytes = size
    throw .verification(
      .digest(
        algorithm: pieces.algorithm.rawValue, expected: pieces.hex(first), actual: "another one of piece \(first)"))
  }

  /// The lead's bytes differ from those of another source, which are on disk.
  func disagreement() -> TransferError {
    let error = TransferError.response(.malformed("the bytes of this source differ from those on disk"))
    plan.sources.drop(
      plan.lead, .init(reason: "its bytes differ from those of another source", error: error, isDisagreement: true))
    return error
  }

  // MARK: Bytes of another source

  /// Whether the bytes on disk came from another source than the one that is asked now.
  func continuity(_ context: AttemptContext) -> Continuity {
    guard plan.sources.count > 1, let data = context.resumeData, data.url != plan.request.url.withoutQuery else {
      return .sameSource
    }
    return plan.hasDigest(data) ? .byContent : .byTag
  }

  /// Adapts the request of another source, once for a transfer.
  private func adapted(_ source: DownloadSource) async throws(TransferError) -> TransferRequest {
    var request = source.request
    request.redirects = request.redirects ?? session.configuration.redirects
    let state = RequestAdapterState(requestID: core.id, session: session)
    for hook in [source.interceptor, session.interceptor] {
      do {
        if let hook { request = try await hook.adapt(request, using: state) }
      } catch {
        throw .of(.adapter, error)
      }
    }
    return request
  }

  /// Asks another source for bytes that are on disk, and compares them.
  func probe(
    _ id: Int, _ board: SegmentBoard, _ probed: ProbedSources, _ checkpoints: Checkpointer
  ) async -> ProbeOutcome {
    guard let (part, data) = checkpoints.file else { return .cancelled }
    let base: TransferRequest
    do throws(TransferError) {
      base = try await adapted(plan.sources.source(id))
    } catch {
      return error.isCancellation ? .cancelled : .dropped(.init(reason: "\(error)", error: error))
    }
    let sample = board.sample
    let range = sample ?? 0..<1
    let (hasDigest, expected) = (plan.hasDigest(data), plan.expectedDigests + data.declaredDigests)
    var request = base
    request.headers[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"  // checked: the range is not empty
    request.headers[.acceptEncoding] = "identity"
    var hops = 0
    while true {
      let receiver = ProbeReceiver(range: range, isOnDisk: sample != nil, part: part) { [total = board.total] head in
        ProbeDecision(
          head: head, range: range, total: total, validators: data.validators, hasDigest: hasDigest, expected: expected)
      }
      let outcome = await transfer(request, nil, board, receiver)
      if let redirect = receiver.redirect, case .finished = outcome {
        do throws(TransferError) {
          guard
            let next = try await session.redirected(
              request, redirect, hops: hops, id: core.id, handler: core.redirectHandler)
          else { return .dropped(.init(reason: "its redirect is not followed")) }
          request = next
          hops += 1
          continue
        } catch {
          return .dropped(.init(reason: "\(error)", error: error))
        }
      }
      let result = Self.outcome(outcome, receiver)
      if case .usable = result { probed[id] = .init(request: base, validators: receiver.validators) }
      return result
    }
  }

  private static func outcome(_ outcome: TransferOutcome, _ receiver: ProbeReceiver) -> ProbeOutcome {
    if receiver.differs {
      return .dropped(.init(reason: "its bytes differ from those of the first source", isDisagreement: true))
    }
    switch receiver.decision {
    case .drop(let reason, let isDisagreement)?:
      return .dropped(.init(reason: reason, isDisagreement: isDisagreement))
    case .wait(let status)?: return .overloaded(reason: "it responded \(status)")
    case .compare?, nil: break
    }
    switch outcome {
    case .cancelled: return .cancelled
    case .failed(let error, _, _): return .dropped(.init(reason: "\(error)", error: error))
    case .finished:
      return receiver.isComplete ? .usable : .dropped(.init(reason: "it sent less than was asked for"))
    }
  }
}

/// How a source may go on with the bytes on disk.
enum Continuity: Equatable, Sendable {
  /// They are its own: its validators decide.
  case sameSource
  /// They are another source's. The last ones are compared, and a digest decides in the end.
  case byContent
  /// They are another source's, and no digest is known: only the same strong ETag proves that the files are equal.
  case byTag
}

extension TransferError {
  /// Whether another source of the same file may do better.
  var concernsSource: Bool {
    switch self {
    case .connection, .response, .redirect, .remote, .serverTrust, .transport, .verification, .hook(.adapter, _),
      .hook(.validation, _):
      true
    default: false
    }
  }

  /// The source and the bytes on disk have different lengths: either may be the wrong one.
  fileprivate var isDisagreement: Bool { if case .verification(.length) = self { true } else { false } }
}
