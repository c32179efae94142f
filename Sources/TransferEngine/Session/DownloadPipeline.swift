import FoundationEssentials
import HTTPTypes
import Synchronization
import WireValues

/// One download from its first attempt to its last, as straight-line code:
/// adapt → ask, rung by rung and hop by hop → compare lengths → validate → verify → record → rename → sync.
struct DownloadPipeline: Sendable {
  let session: Session
  let core: RequestCore<FileResponse>
  var plan: DownloadPlan
  /// Describes the request anew for every attempt; where it is `nil`, the plan's is taken.
  var source: RequestSource?

  /// What an attempt knows so far; what of it survives a failure makes the response.
  struct Course {
    /// What was sent last.
    var request: TransferRequest?
    var head: ResponseHead?
    /// The head that came with the file's bytes.
    var bodyHead: ResponseHead?
    var target: DownloadTarget?
    var resumeData: ResumeData?
    var metrics: [TransferMetrics] = []
    var resumedFrom: Int64 = 0
    var received: Int64 = 0
    var onDisk: Int64 = 0
    var total: Int64?
    var part: PartialFile?
    /// Bytes of the last checkpoint, while nothing vouches for those behind it: the attempt that wrote them was cut off.
    var comparesFrom: Int64?
    /// The last body ended before its announced end.
    var isShort = false
    var digests: [DigestAlgorithm: String]?
    var verification = DownloadVerification.none
    var origin: String?
  }

  func run(from resumeData: ResumeData?, interceptor: (any RequestInterceptor)?) async -> FileResponse {
    var course = Course(resumeData: resumeData)
    var retries = 0
    var furthest: Int64 = 0
    let began = ContinuousClock.now
    while true {
      do throws(TransferError) {
        let path = try await described().attempt(&course, interceptor)
        session.notify(core.id, .finish)
        return response(course, .success(path))
      } catch {
        await saveWhatIsThere(&course)
        // Progress of the file, not of bytes: fetching the same ones for ever is none.
        if course.onDisk > furthest.saturatingSum(DownloadReceiver.unrecordedLimit / 16) {
          retries = 0
          furthest = course.onDisk
        }
        if error.isCancellation, !Task.isCancelled {
          // Suspended, not cancelled: go on from the resume data after resume().
          await core.waitWhileSuspended()
          if !Task.isCancelled { continue }
        }
        let failure = FailedAttempt(
          request: course.request ?? plan.request, response: course.head, error: error, retryCount: retries,
          elapsed: began.duration(to: .now))
        if let last = await session.wait(toRetry: failure, id: core.id, interceptor) { return failed(course, last) }
        retries += 1  // checked: a counter of this process
        core.willRetry()
      }
    }
  }

  /// This pipeline with the request as its source describes it now.
  private func described() throws(TransferError) -> DownloadPipeline {
    guard let source else { return self }
    var pipeline = self
    pipeline.plan.request = try source.request()
    return pipeline
  }

  private func failed(_ course: Course, _ error: TransferError) -> FileResponse {
    var course = course
    if core.isDiscarding, let data = course.resumeData {
      PartialFiles.remove(data.partialFile.name, in: data.partialFile.directory, rules: plan.rules)
      course.resumeData = nil
    }
    session.notify(core.id, .fail(error))
    return response(course, .failure(error))
  }

  private func response(_ course: Course, _ result: Result<String, TransferError>) -> FileResponse {
    var response = FileResponse(result: result)
    response.request = course.request
    response.head = course.head
    response.metrics = course.metrics
    response.resumedFrom = course.resumedFrom
    response.bytesReceived = course.received
    response.bytesOnDisk = course.onDisk
    response.totalBytes = course.total
    response.respondingOrigin = course.origin
    switch result {
    case .success(let path):
      response.filePath = path
      response.verification = course.verification
    case .failure:
      response.resumeData = course.resumeData
    }
    return response
  }

  /// Brings the bytes of a part file that can be gone on from to the disk, and notes how many they are. Without resume
  /// data the part file is of no use, and goes.
  private func saveWhatIsThere(_ course: inout Course) async {
    guard let part = course.part else { return }
    course.part = nil
    // Not compared yet: the record stays as it is, so that the next attempt compares.
    if course.comparesFrom != nil, course.resumeData != nil { return }
    guard var data = course.resumeData, course.onDisk > 0 else {
      course.resumeData = nil
      course.onDisk = 0
      part.directory.remove(part.name)
      return
    }
    let written = course.onDisk
    do throws(TransferError) {
      try await BlockingIO.run { () throws(TransferError) in try part.synchronize() }
      data.checkpointBytes = written
    } catch {
      // What the disk refused is not counted on, in this boot neither: the pages may be gone.
      data.bootID = "unsynchronized"
    }
    data.isAtRest = true
    course.resumeData = data
  }

  // MARK: One attempt

  private func attempt(
    _ course: inout Course, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) -> String {
    let (directory, namedSize) = try await openDirectory(course)
    if let directory, let namedSize { return try await finishNamed(&course, directory, size: namedSize) }
    let request = try await session.adapted(core.authenticated(plan.request), interceptor)
    try reopenPart(&course, directory)
    course.resumedFrom = course.onDisk
    if !isWhole(course) {
      if request.url.isHTTP {
        try await fetch(&course, request, directory)
      } else {
        try await fetchRemote(&course, request, directory)
      }
    }
    if Task.isCancelled { throw .cancelled }
    return try await finish(&course)
  }

  /// The destination's directory; where that is chosen later, the part file's, if there is one. And the size of the file
  /// there, where an earlier attempt gave it its name without being able to bring that to the disk.
  /// - Throws: `.destinationExists` where the name is known to be taken, before anything is asked for.
  private func openDirectory(
    _ course: Course
  ) async throws(TransferError) -> (directory: Directory?, namedSize: Int64?) {
    var path: String? = plan.destination.directory
    if plan.chooser != nil { path = course.resumeData?.partialFile.directory }
    guard let path else { return (nil, nil) }
    let isCreating = plan.chooser == nil && plan.options.contains(.createIntermediateDirectories)
    let isNamed = plan.chooser == nil && !plan.destination.isNamedByResponse
    let mustBeFree = isNamed && !plan.options.contains(.removePreviousFile)
    let (name, resumeData, isChosen, rules) = (
      plan.destination.name, course.resumeData, plan.chooser != nil, plan.rules
    )
    return try await BlockingIO.run { () throws(TransferError) in
      let directory = try Directory.open(path, creating: isCreating, rules: rules)
      if isNamed { try rules.checkName(name, in: directory.identity, as: directory.path(of: name)) }
      let size = isChosen ? nil : resumeData.flatMap { $0.sizeOfNamedFile(in: directory) }
      if size == nil, mustBeFree, directory.contains(name) { throw .file(.destinationExists(path + "/" + name)) }
      return (directory, size)
    }
  }

  /// Finds the bytes that the resume data speaks of. What cannot be trusted is thrown away.
  private func reopenPart(_ course: inout Course, _ directory: Directory?) throws(TransferError) {
    course.onDisk = 0
    course.target = nil
    course.comparesFrom = nil
    // A part file of which nothing is known is replaced by the new one.
    guard let data = course.resumeData, let directory else { return }
    guard
      let part = PartialFile.open(in: directory, name: data.partialFile.name, expecting: data.partialFile.identity)
    else {
      course.resumeData = nil
      return
    }
    let size = part.size
    guard let good = data.usableBytes(ofFileWith: size) else {
      course.resumeData = nil
      directory.remove(data.partialFile.name)
      return
    }
    if size > good { try part.truncate(to: good) }
    if data.mustCompare(fileWith: size) { course.comparesFrom = min(good, data.checkpointBytes) }
    course.part = part
    course.onDisk = good
    course.total = data.totalBytes
    course.resumeData?.isAtRest = nil
  }

  /// Throws away what lies behind the last checkpoint: it is not what the server has.
  /// - Returns: whether bytes are left that can be asked to be compared; false where they were cut before.
  func cutToCheckpoint(_ course: inout Course) throws(TransferError) -> Bool {
    guard let checkpoint = course.comparesFrom, let part = course.part, checkpoint > 0, checkpoint < course.onDisk
    else {
      return false
    }
    try part.truncate(to: checkpoint)
    course.onDisk = checkpoint
    course.resumedFrom = checkpoint
    // Whatever ends this attempt, the next one compares too, and starts over where the bytes differ again.
    course.comparesFrom = 0
    course.resumeData?.checkpointBytes = 0
    return true
  }

  /// All bytes are there and synced: a kill came between the record of that and the rename.
  private func isWhole(_ course: Course) -> Bool {
    guard let total = course.resumeData?.totalBytes, course.part != nil else { return false }
    return course.onDisk == total && course.comparesFrom == nil
  }

  /// Asks until the file is whole, or no way of asking is left.
  private func fetch(
    _ course: inout Course, _ request: TransferRequest, _ directory: Directory?
  ) async throws(TransferError) {
    var ladder = Self.ladder(course)
    var request = request
    var isDecoding = false
    while true {
      let onDiskBefore = course.onDisk
      let ending: DownloadReceiver.Ending
      do throws(TransferError) {
        ending = try await ask(
          &course, request, directory, question: ladder.question, isDecoding: isDecoding)
      } catch .response(.unrequestedPartialContent) where request.headers[.cacheControl] != "no-cache" {
        // A broken cache answered: ask once more, past it (RFC 9111 §5.2.1.4).
        request.headers[.cacheControl] = "no-cache"
        continue
      }
      switch ending {
      case .body:
        if course.isShort { throw .response(.truncated(received: course.onDisk, expected: course.total)) }
        guard let total = course.total, course.onDisk < total else { return }
        // A part may be shorter than asked for (RFC 9110 §14.2): ask for the rest, as long as that brings any.
        guard ladder.question.isRanged, course.onDisk > onDiskBefore else {
          throw .response(.truncated(received: course.onDisk, expected: total))
        }
        ladder = Self.ladder(course)
      case .alreadyComplete:
        course.total = course.onDisk
        return
      case .nextRung(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        // A file that is longer than the server's holds bytes that are none of it.
        if course.head?.status == 416, try cutToCheckpoint(&course) {
          ladder = Self.ladder(course)
        } else if !ladder.descend() {
          throw .response(.malformed(reason))
        }
      case .differs(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        ladder = try cutToCheckpoint(&course) ? Self.ladder(course) : .whole
      case .encoded(let decode):
        isDecoding = decode
        ladder = .whole
      case .none, .redirect:
        throw .connection(.broken("no answer"))
      }
    }
  }

  private static func ladder(_ course: Course) -> ResumeLadder {
    ResumeLadder(
      stored: course.resumeData?.validators, bytesOnDisk: course.onDisk, refusals: course.resumeData?.refusals ?? 0,
      isComparing: course.comparesFrom != nil)
  }

  /// One question, followed through its redirects. From the user's own URL each time: what it leads to may be signed
  /// for minutes only.
  private func ask(
    _ course: inout Course, _ request: TransferRequest, _ directory: Directory?, question: RangeQuestion,
    isDecoding: Bool
  ) async throws(TransferError) -> DownloadReceiver.Ending {
    var request = request
    question.apply(to: &request.headers)
    request.headers[.acceptEncoding] = "identity"
    var hops = 0
    while true {
      let receiver = try await transfer(&course, request, directory, question, isDecoding)
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

  /// One hop: runs the transfer with its checkpoints beside it, and takes over what it left.
  func transfer(
    _ course: inout Course, _ request: TransferRequest, _ directory: Directory?, _ question: RangeQuestion,
    _ isDecoding: Bool
  ) async throws(TransferError) -> DownloadReceiver {
    await core.waitWhileSuspended()
    let id = TransferID()
    let core = core
    let loop = try session.performer(for: request.url)
    let checkpoints = Checkpointer(journal: plan.journal, loop: loop, id: id)
    let receiver = DownloadReceiver(
      plan: plan, directory: directory, question: question, isDecoding: isDecoding, stored: course.resumeData,
      part: course.part, check: headCheck(request), signal: { checkpoints.signal(isWaiting: $0) },
      progressed: { core.report(TransferProgress(completed: $0, total: $1)) })
    course.origin = request.url.origin
    course.request = request
    core.setTransfer(hold: {
      id.cancel()
      Task { await loop.cancel(id) }
    })
    core.willSend(request)
    var wire = session.wireRequest(request, acceptEncoding: isDecoding ? "identity" : nil)
    wire.remote?.operation = .read(from: question.start)
    checkpoints.attach(receiver)
    let outcome = await loop.perform(wire, id: id, receiver: receiver)
    await checkpoints.finish()
    core.setTransfer(hold: nil)
    receiver.close()
    takeOver(receiver, into: &course)
    if let target = receiver.target, !target.parents.isEmpty {
      try await BlockingIO.run { () throws(TransferError) in try target.synchronizeParents() }
    }
    if let failure = checkpoints.failure { throw failure }
    switch outcome {
    case .cancelled: throw .cancelled
    case .failed(let error, _, let metrics):
      course.metrics.append(metrics)
      session.notify(core.id, .gatherMetrics(metrics))
      // What the status says counts, even if the error page broke off.
      throw receiver.refusal ?? Self.explained(error, course)
    case .finished(_, let metrics):
      course.metrics.append(metrics)
      session.notify(core.id, .gatherMetrics(metrics))
      return receiver
    }
  }

  /// What the user's checks say of a head, for the receiver.
  private func headCheck(_ request: TransferRequest) -> @Sendable (ResponseHead) throws(TransferError) -> Void {
    let validations = core.validations
    return { head throws(TransferError) in
      for case .head(let validation) in validations {
        if case .failure(let error) = validation(request, head) { throw .of(.validation, error) }
      }
    }
  }

  private func takeOver(_ receiver: DownloadReceiver, into course: inout Course) {
    let shared = receiver.shared.withLock { $0 }
    course.received = course.received.saturatingSum(receiver.received)
    if let head = receiver.head {
      course.head = head
      session.notify(core.id, .receiveHead(head))
    }
    guard case .body = receiver.ending else { return }
    course.bodyHead = receiver.head
    if let target = receiver.target { course.target = target }
    course.part = shared.part
    course.resumeData = shared.resumeData
    course.onDisk = shared.written
    course.total = receiver.total
    course.digests = receiver.digests
    course.isShort = receiver.isShort
    if receiver.isCompared { course.comparesFrom = nil }
    if !receiver.isAppending { course.resumedFrom = 0 }
  }

  /// libcurl counts the bytes of one transfer; people want those of the file.
  private static func explained(_ error: TransferError, _ course: Course) -> TransferError {
    guard case .response(.truncated) = error else { return error }
    return .response(.truncated(received: course.onDisk, expected: course.total))
  }
}

extension TransferError {
  var isCancellation: Bool { if case .cancelled = self { true } else { false } }
}
