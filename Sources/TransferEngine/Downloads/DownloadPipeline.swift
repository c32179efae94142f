import FoundationEssentials
import HTTPTypes
import WireValues

/// Runs one download: adapt → request, strategy by strategy and redirect by redirect → compare lengths → verify → validate
/// → record → rename → sync → (retry).
struct DownloadPipeline: AttemptPipeline, Sendable {
  let session: Session
  let core: RequestCore<FileResponse>
  var interceptor: (any RequestInterceptor)?
  var plan: DownloadPlan
  /// Describes the request again for every attempt after the first; `nil` keeps the plan's request.
  var source: RequestSource?

  /// The state of an attempt. What survives a failure becomes the response.
  struct AttemptContext {
    var request: TransferRequest?
    /// The attempt's request after its adapters, before redirects, without the fields of a range question.
    var adapted: TransferRequest?
    var head: ResponseHead?
    /// The head that came with the file's bytes.
    var bodyHead: ResponseHead?
    var target: DownloadTarget?
    var resumeData: ResumeData?
    var resumedFrom: Int64 = 0
    var received: Int64 = 0
    /// Valid bytes in the part file.
    var onDisk: Int64 = 0
    /// Which they are, if they are not simply the file's first ones.
    var pieces: ByteRanges?
    /// Several connections brought them, and no strong validator proves that they are of one version.
    var isJoinedWithoutValidator = false
    var total: Int64?
    var part: PartialFile?
    /// The destination's directory, and the part file's if that is another one.
    var directories: (destination: Directory, part: Directory)?
    /// Bytes of the last checkpoint, while the bytes after it are unverified because their attempt was cut off.
    var comparesFrom: Int64?
    /// The last body ended before its announced end.
    var isShort = false
    /// The last body ended with its connection, which TLS says was cut off.
    var isEndMissing = false
    var digests: [DigestAlgorithm: String]?
    /// Which bytes on disk each source has sent; `PieceCheck.earlier`: it is not known which.
    var contributions: [Int: ByteRanges] = [:]
    /// Pieces on disk whose digest is right.
    var goodPieces: Set<Int> = []
    /// Wrong pieces were discarded at the end of the file.
    var hasWrongPieces = false
    var contributors: Set<Int> { Set(contributions.filter { !$0.value.isEmpty }.keys) }
    var verification = DownloadVerification.none
    /// What was decided about the destination; `nil` if the response gives its name.
    var existing: ExistingFileDecision?
    /// The destination, if it is left as it is.
    var kept: KeptFile?
    var origin: String?
    /// The attempt's first transfer, if it is already running.
    var adopted: AdoptedTransfer?
    /// How the first attempt has already ended.
    var adoptedFailure: TransferError?
    var isFirstAttempt = true
    /// The most bytes on disk after any attempt that counted as progress.
    var furthest: Int64 = 0
    /// The path of the complete file.
    var path = ""
    /// The complete file, when it has its name.
    var version: SourceIdentity?
  }

  /// What a group has already done for this download.
  enum Adoption: Sendable {
    /// The request is adapted, and its first transfer is running.
    case transfer(AdoptedTransfer)
    /// The first attempt failed, in this state.
    case failure(TransferError, AttemptContext)
  }

  func run(from resumeData: ResumeData?, adopting adoption: Adoption? = nil) async -> FileResponse {
    var (pipeline, context) = (self, AttemptContext(resumeData: resumeData))
    switch adoption {
    case .transfer(let transfer)?: context.adopted = transfer
    case .failure(let error, let state)?:
      context = state
      context.adoptedFailure = error
    case nil: break
    }
    if let error = await pipeline.run(&context) { return failed(context, error) }
    session.notify(core.id, .finish)
    return response(context, .success(context.path))
  }

  func decide(after error: TransferError, _ context: inout AttemptContext) async -> AttemptDecision {
    await saveProgress(&context)
    // The file must have grown: receiving the same bytes again is no progress.
    let madeProgress = context.onDisk > context.furthest.saturatingSum(DownloadReceiver.unrecordedLimit / 16)
    if madeProgress { context.furthest = context.onDisk }
    if error.isCancellation, !Task.isCancelled {
      // Suspended, not cancelled: continue from the resume data after resume().
      await core.waitWhileSuspended()
      if !Task.isCancelled { return .attemptAgain(madeProgress: madeProgress) }
    }
    return .askRetriers(
      request: context.request ?? plan.request, response: context.head, error: error, madeProgress: madeProgress)
  }

  private func failed(_ context: AttemptContext, _ error: TransferError) -> FileResponse {
    var context = context
    if core.isDiscarding, let data = context.resumeData {
      for directory in Set([data.partialFile.directory, data.landing?.directory ?? data.partialFile.directory]) {
        PartialFiles.remove(data.partialFile.name, in: directory, rules: plan.rules)
      }
      context.resumeData = nil
    }
    session.notify(core.id, .fail(error))
    return response(context, .failure(error))
  }

  private func response(_ context: AttemptContext, _ result: Result<String, TransferError>) -> FileResponse {
    var response = FileResponse(result: result)
    response.request = context.request
    response.head = context.head
    response.metrics = core.record.metrics
    response.resumedFrom = context.resumedFrom
    response.bytesReceived = context.received
    response.bytesOnDisk = context.onDisk
    response.totalBytes = context.total
    response.respondingOrigin = context.origin
    switch result {
    case .success(let path):
      response.filePath = path
      if let kept = context.kept {
        (response.outcome, response.record) = (kept.outcome, kept.record)
      } else {
        response.verification = context.verification
        response.version = context.version
        response.record = context.resumeData?.record.flatMap { FileRecord($0) }
      }
    case .failure:
      response.resumeData = context.resumeData
    }
    return response
  }

  /// Syncs the bytes of a part file to disk and notes how many they are. Deletes a part file that cannot be resumed.
  func saveProgress(_ context: inout AttemptContext) async {
    guard let part = context.part else { return }
    context.part = nil
    // The bytes have not been compared yet. Keep the record, so that the next attempt compares them.
    if context.comparesFrom != nil, context.resumeData != nil { return }
    guard var data = context.resumeData, context.onDisk > 0 else {
      context.resumeData = nil
      context.onDisk = 0
      part.directory.removePart(part.name)
      return
    }
    let (written, pieces) = (context.onDisk, context.pieces)
    do throws(TransferError) {
      try await BlockingIO.run { () throws(TransferError) in try part.synchronize() }
      data.checkpointBytes = written
      data.segments = pieces.map { .init(synced: $0) }
    } catch {
      // Do not count bytes that failed to sync, even in this boot: the pages may be lost.
      data.bootID = "unsynchronized"
    }
    data.isAtRest = true
    context.resumeData = data
  }

  // MARK: One attempt

  mutating func attempt(_ context: inout AttemptContext) async throws(TransferError) {
    if !context.isFirstAttempt, let source { plan.request = try source.request() }
    context.isFirstAttempt = false
    context.kept = nil
    if context.adopted == nil { beginSources() }
    do throws(TransferError) {
      if let error = context.adoptedFailure {
        context.adoptedFailure = nil
        throw error
      }
      context.path = try await fileFromSources(&context)
    } catch .file(.destinationExists) where plan.rule == .skip {
      // Another program took the name since the destination was examined.
      context.path = keep(KeptFile(name: context.target?.name ?? plan.destination.name, outcome: .skipped), &context)
    } catch .verification(.digest) where context.isJoinedWithoutValidator && plan.sources.count < 2 {
      // Nothing but the digest could tell whether the parts belong together.
      session.notify(core.id, .refuseToResume(reason: "the parts have another digest: one connection fetches the file"))
      context.isJoinedWithoutValidator = false
      plan.segmentation = Segmentation(.one)
      beginSources()
      context.path = try await fileFromSources(&context)
    }
  }

  /// Fetches the file, or the rest of it.
  /// - Returns: the path of the complete file.
  func file(_ context: inout AttemptContext) async throws(TransferError) -> String {
    if let adopted = context.adopted {
      (context.existing, context.adapted) = (adopted.existing, adopted.request)
      try await fetch(&context, adopted.request, adopted.directory)
      if Task.isCancelled { throw .cancelled }
      return try await complete(&context)
    }
    let directory: Directory?
    let namedSize: Int64?
    (directory, namedSize, context.existing) = try await openDirectory(context)
    if let directory, let namedSize { return try await finishNamed(&context, directory, size: namedSize) }
    if let kept = try await keptWithoutRequest(&context, directory) { return keep(kept, &context) }
    // A credential of the request is for its own source.
    let described = plan.lead == 0 ? core.authenticated(plan.request) : plan.request
    (context.request, context.head) = (described, nil)
    try await openPartDirectory(&context, directory)
    let request = try await session.adapted(described, interceptor, core.record)
    context.adapted = request
    try reopenPart(&context, context.directories?.part ?? directory)
    context.resumedFrom = context.onDisk
    if context.onDisk > 0, context.contributions.isEmpty {
      // checked: onDisk > 0
      context.contributions[PieceCheck.earlier] = context.pieces ?? ByteRanges(0..<context.onDisk)
    }
    if !isWhole(context) {
      try await checkFree(context, directory)
      if request.url.isHTTP {
        try await fetch(&context, request, directory)
      } else if let kept = try await keptRemote(context, request) {
        return keep(kept, &context)
      } else {
        try await fetchRemote(&context, request, directory)
      }
    }
    if Task.isCancelled { throw .cancelled }
    return try await complete(&context)
  }

  /// Opens the destination's directory; if the destination is chosen later, the part file's directory, if there is one.
  /// Also returns the size of the finished file if an earlier attempt renamed it but could not sync the directory.
  /// - Throws: `.destinationExists` if the name is known and taken, before a request is sent.
  private func openDirectory(
    _ context: AttemptContext
  ) async throws(TransferError) -> (directory: Directory?, namedSize: Int64?, existing: ExistingFileDecision?) {
    let (plan, resumeData) = (plan, context.resumeData)
    if plan.chooser != nil {
      guard let path = resumeData?.partialFile.directory else { return (nil, nil, nil) }
      return try await BlockingIO.run { () throws(TransferError) in
        (try Directory.open(path, rules: plan.rules), nil, nil)
      }
    }
    return try await BlockingIO.run { () throws(TransferError) in
      let directory = try plan.openDirectory()
      try plan.checkRules(in: directory)
      let size = resumeData.flatMap { $0.sizeOfNamedFile(in: directory) }
      return (directory, size, size == nil ? try plan.examine(directory) : nil)
    }
  }

  /// Opens the part file that the resume data describes. Bytes that cannot be trusted are discarded.
  private func reopenPart(_ context: inout AttemptContext, _ directory: Directory?) throws(TransferError) {
    context.onDisk = 0
    context.pieces = nil
    context.target = nil
    context.comparesFrom = nil
    // A part file without resume data is replaced.
    guard let data = context.resumeData, let directory else { return }
    guard
      let part = PartialFile.open(in: directory, name: data.partialFile.name, expecting: data.partialFile.identity)
    else {
      context.resumeData = nil
      directory.remove(PieceMap.name(of: data.partialFile.name))
      return
    }
    let size = part.size
    if data.segments != nil, let total = data.totalBytes, size > total { try part.truncate(to: total) }
    if data.segments != nil, let ranges = data.usableRanges(ofFileWith: size, in: directory) {
      context.part = part
      context.pieces = ranges
      context.onDisk = ranges.count
      context.total = data.totalBytes
      context.resumeData?.isAtRest = nil
      return
    }
    guard data.segments == nil, let good = data.usableBytes(ofFileWith: size) else {
      context.resumeData = nil
      directory.removePart(data.partialFile.name)
      return
    }
    if size > good { try part.truncate(to: good) }
    if data.mustCompare(fileWith: size) { context.comparesFrom = min(good, data.checkpointBytes) }
    context.part = part
    context.onDisk = good
    context.total = data.totalBytes
    context.resumeData?.isAtRest = nil
  }

  /// Whether all bytes are present and synced: the process was killed between that record and the rename.
  private func isWhole(_ context: AttemptContext) -> Bool {
    guard let total = context.resumeData?.totalBytes, context.part != nil else { return false }
    return context.onDisk == total && context.comparesFrom == nil
  }

  /// Sends requests until the file is complete or no strategy is left.
  private func fetch(
    _ context: inout AttemptContext, _ request: TransferRequest, _ directory: Directory?
  ) async throws(TransferError) {
    var strategies = strategies(context)
    var request = request
    var isDecoding = false
    while true {
      let onDiskBefore = context.onDisk
      let ending: DownloadReceiver.Ending
      do throws(TransferError) {
        ending = try await ask(
          &context, request, directory, question: Self.question(strategies.question, context), isDecoding: isDecoding)
      } catch .response(.unrequestedPartialContent) where request.headers[.cacheControl] != "no-cache" {
        // A broken cache sent the response: repeat the request and bypass caches (RFC 9111 §5.2.1.4).
        request.headers[.cacheControl] = "no-cache"
        continue
      }
      switch ending {
      case .body:
        if let drop = plan.sources.drop(of: plan.lead), let error = drop.error, context.onDisk < context.total ?? 0 {
          throw error
        }
        if context.isShort { throw .response(.truncated(received: context.onDisk, expected: context.total)) }
        guard Self.mayHaveMore(context) else { return }
        // A part may be shorter than requested (RFC 9110 §14.2): request the rest, as long as each response has at
        // least one byte.
        guard strategies.question.isRanged || context.pieces != nil, context.onDisk > onDiskBefore else {
          throw .response(.truncated(received: context.onDisk, expected: context.total))
        }
        strategies = self.strategies(context)
      case .alreadyComplete:
        context.total = context.onDisk
        return
      case .nextStrategy(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        // A file that is longer than the server's contains wrong bytes.
        if context.head?.status == 416, try cutToCheckpoint(&context) {
          strategies = self.strategies(context)
        } else if !strategies.descend() {
          throw .response(.malformed(reason))
        }
      case .differs(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        if try cutToCheckpoint(&context) {
          strategies = self.strategies(context)
        } else if continuity(context) == .byContent {
          throw disagreement()
        } else {
          strategies = .whole
        }
      case .encoded(let decode):
        isDecoding = decode
        strategies = .whole
      case .kept(let kept):
        context.kept = kept
        return
      case .verify(let name, let stamp, let digests):
        guard await isVerified(name, stamp, digests, directory) else {
          context.existing = .fetch(.always)
          continue
        }
        context.kept = KeptFile(name: name, outcome: .unchanged)
        return
      case .none, .redirect:
        throw .connection(.broken("no response"))
      }
    }
  }

  /// Sends one request and follows its redirects. Always starts at the user's own URL: a redirect's target may be
  /// signed for a few minutes only.
  private func ask(
    _ context: inout AttemptContext, _ request: TransferRequest, _ directory: Directory?, question: RangeQuestion,
    isDecoding: Bool
  ) async throws(TransferError) -> DownloadReceiver.Ending {
    let base = request
    var request = request
    question.apply(to: &request.headers)
    request.headers[.acceptEncoding] = "identity"
    var hops = 0
    while true {
      let receiver = try await transfer(&context, request, directory, question, isDecoding, base: base)
      if let refusal = receiver.refusal { throw refusal }
      guard case .redirect(let head) = receiver.ending else { return receiver.ending }
      guard
        let next = try await session.redirected(
          request, head, hops: hops, id: core.id, handler: core.redirectHandler)
      else {
        throw .response(.unacceptableStatus(head.status, retryAfter: nil))
      }
      request = next
      hops += 1
    }
  }
}
