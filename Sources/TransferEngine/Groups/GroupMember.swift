import HTTPTypes
import Synchronization
import WireValues

/// One download of a group: its transfer's receiver while it stays in the group, and the way out of it.
///
/// `@unchecked Sendable`: the variables without a lock are used by one thread at a time: by the thread that prepares the
/// download, then by the transfer loop's thread, and after the transfer by the landing. Hops and locks separate these.
final class GroupMember: TransferReceiver, TransferSink, @unchecked Sendable {
  /// Where the download is. Changed on the loop's thread only.
  enum Phase { case waiting, running, arrived, ended }

  /// How a cancelled download ends.
  enum Cancellation { case keepingBytes, discardingBytes }

  let download: GroupDownload
  let requestID: RequestID
  let transferID = TransferID()
  let group: DownloadGroupCore

  var phase = Phase.waiting
  /// Set by the preparation.
  private(set) var plan: DownloadPlan?
  /// The destination's directory; `nil` if the download never stays in the group.
  private(set) var directory: Directory?
  /// Described, with the session's settings, without the fields of a range question.
  private(set) var adapted: TransferRequest?
  /// As it is sent.
  private(set) var request: TransferRequest?
  private(set) var wire: WireRequest?
  /// What was decided about the destination.
  private(set) var existing: ExistingFileDecision?
  /// The origin of the request.
  let origin: String

  /// The head of a response that stays in the group.
  private(set) var head: ResponseHead?
  /// The bytes of the body, complete or not.
  private(set) var body: [UInt8] = []
  private(set) var length: Int64 = 0
  private(set) var metrics: TransferMetrics?
  /// Receives the rest of a transfer that has left the group.
  private var adopted: AdoptedTransfer?

  private struct Life {
    var cancellation: Cancellation?
    var isLanding = false
    var core: RequestCore<FileResponse>?
  }
  private let life = Mutex(Life())
  /// Bytes that have arrived, and the length; negative while it is unknown.
  private let progress = Mutex((received: Int64(0), length: Int64(-1)))

  init(_ download: GroupDownload, _ group: DownloadGroupCore) {
    self.download = download
    self.group = group
    requestID = group.session.nextRequestID()
    origin = download.request.url.origin
  }

  var session: Session { group.session }
  var isCancelled: Bool { life.withLock { $0.cancellation != nil } }

  // MARK: Before the transfer

  /// What the download has to do.
  func makePlan() -> DownloadPlan {
    let destination = download.destination
    let adapter = group.journal.map { GroupJournalAdapter(tag: download.tag, journal: $0) }
    var plan = DownloadPlan(
      request: download.request, destination: destination, options: download.options,
      partialName: download.partialName ?? download.resumeData.flatMap { ResumeData($0) }?.partialFile.name
        ?? Session.partialName(for: destination.name),
      expectedDigests: download.digests, journal: download.journal ?? adapter, rules: download.rules)
    plan.segmentation = download.segmentation
    if let sources = download.sources { plan.sources = sources }
    return plan
  }

  /// The download can begin its transfer in the group. The response decides whether it stays there.
  func prepare(
    _ plan: DownloadPlan, _ directory: Directory, _ wire: WireRequest, adapted: TransferRequest, sent: TransferRequest,
    _ existing: ExistingFileDecision?
  ) {
    self.existing = existing
    self.plan = plan
    self.directory = directory
    self.wire = wire
    self.adapted = adapted
    request = sent
  }

  /// The wire request, once.
  func takeWire() -> WireRequest? {
    defer { wire = nil }
    return wire
  }

  // MARK: On the loop's thread

  var bufferSize: Int { 256 * 1024 }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    if let adopted { return try adopted.running.receiver.receive(head) }
    // A larger file is refused by the single download.
    let limit = min(group.limits.bodyBytes, download.destination.attributes.maximumBytes ?? .max)
    let decision = GroupDecision(
      head: head, acceptable: download.acceptableStatusCodes, limit: limit, unless: existing?.condition)
    if decision == .unchanged {
      self.head = head
      return .dropBody
    }
    guard case .keep(let length) = decision, group.transfers.reserve(length) else {
      return try leave().receive(head)
    }
    self.head = head
    self.length = length
    body.reserveCapacity(Int(length))  // checked: at most the group's limit
    progress.withLock { $0.length = length }
    if download.acceptableStatusCodes != nil { session.notify(requestID, .validate(nil)) }
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    if let adopted { return try adopted.running.receiver.receive(bytes) }
    guard Int64(body.count) + Int64(bytes.count) <= length else {  // checked: counts of memory
      return try leaveWithBody().receive(bytes)
    }
    body.append(contentsOf: bytes)
    let count = Int64(body.count)
    progress.withLock { $0.received = count }
    return .taken
  }

  func transferEnded(_ outcome: TransferOutcome) {
    if let adopted {
      self.adopted = nil
      return adopted.complete(outcome)
    }
    if case .finished(.some, let metrics) = outcome, head != nil, Int64(body.count) == length {
      self.metrics = metrics
      phase = .arrived
      group.arrive(self)
    } else {
      leave(with: outcome)
    }
  }

  // MARK: Leaving the group

  /// Continues the running transfer as a single download.
  /// - Returns: its receiver, which has got nothing yet.
  private func leave() -> DownloadReceiver {
    let adopted = adopt()
    self.adopted = adopted
    return adopted.running.receiver
  }

  /// The same for a transfer whose head and first bytes have arrived. The receiver gets them again.
  private func leaveWithBody() throws(TransferError) -> DownloadReceiver {
    let receiver = leave()
    try replay(to: receiver)
    return receiver
  }

  /// The transfer has ended in a way that does not stay in the group: a failure, a cancellation, a short body.
  func leave(with outcome: TransferOutcome) {
    let adopted = adopt()
    var outcome = outcome
    do throws(TransferError) {
      try replay(to: adopted.running.receiver)
    } catch {
      outcome = .failed(error, head: head, metrics: outcome.metrics ?? TransferMetrics())
    }
    adopted.complete(outcome)
  }

  private func replay(to receiver: DownloadReceiver) throws(TransferError) {
    guard let head else { return }
    defer { releaseBody() }
    self.head = nil
    guard case .takeBody = try receiver.receive(head), !body.isEmpty else { return }
    _ = try body.withUnsafeBytes { bytes in Result { () throws(TransferError) in try receiver.receive(bytes) } }.get()
  }

  /// Makes the single download and starts its pipeline, which waits for the transfer.
  private func adopt() -> AdoptedTransfer {
    guard let plan, let directory, let adapted, let request else { preconditionFailure("the download is not prepared") }
    var context = DownloadPipeline.AttemptContext()
    context.existing = existing
    let slot = AdoptionSlot()
    let core = makeCore(plan) { slot.take() }
    let pipeline = DownloadPipeline(session: session, core: core, plan: plan)
    let running = pipeline.makeTransfer(
      context, request, directory, DownloadPipeline.question(.whole, context), false, transferID, session.loop)
    let adopted = AdoptedTransfer(running, adapted, directory, existing)
    slot.put(.transfer(adopted))
    start(core, isReported: true)
    return adopted
  }

  /// The file could not get its name: a single download continues from this state. It decides what is kept.
  func leave(with error: TransferError, in context: DownloadPipeline.AttemptContext) {
    guard let plan else { preconditionFailure("the download is not prepared") }
    let core = makeCore(plan) { .failure(error, context) }
    if let metrics { core.record.didEnd(.finished(head: head, metrics: metrics)) }
    start(core, isReported: true)
  }

  /// A download that never stays in the group.
  func runAlone() { start(makeCore(makePlan()) { nil }, isReported: false) }

  private func makeCore(
    _ plan: DownloadPlan, _ adoption: @escaping @Sendable () -> DownloadPipeline.Adoption?
  ) -> RequestCore<FileResponse> {
    let (session, interceptor) = (session, download.interceptor)
    let resumeData = download.resumeData.flatMap { ResumeData($0) }
    let core = RequestCore<FileResponse>(session: session, id: requestID) { core in
      let pipeline = DownloadPipeline(session: session, core: core, interceptor: interceptor, plan: plan)
      return await pipeline.run(from: resumeData, adopting: adoption())
    }
    if let codes = download.acceptableStatusCodes {
      core.validate(.head { _, head in ResponseValidation.status(codes, head) })
    }
    return core
  }

  private func start(_ core: RequestCore<FileResponse>, isReported: Bool) {
    let cancellation = life.withLock { life in
      life.core = core
      return life.cancellation
    }
    if let cancellation {
      core.cancel(dueTo: nil, producingResumeData: cancellation == .keepingBytes)
    } else if isReported {
      core.startAdopted()
    } else {
      core.resume()
    }
    core.respond { response in
      self.life.withLock { $0.core = nil }
      await self.group.leftMemberEnded(self, response)
    }
  }

  // MARK: Landing

  /// - Returns: false if the download was cancelled.
  func beginLanding() -> Bool {
    life.withLock { life in
      guard life.cancellation == nil else { return false }
      life.isLanding = true
      return true
    }
  }

  /// The bytes are in a file, or are not needed.
  func releaseBody() {
    body = []
    group.transfers.release(length)
    length = 0
  }

  // MARK: Any thread

  /// - Returns: false if it is too late, or if the download has left the group and cancels itself.
  func cancel(_ cancellation: Cancellation) -> Bool {
    let (isNew, core) = life.withLock { life -> (Bool, RequestCore<FileResponse>?) in
      guard life.cancellation == nil, !life.isLanding || life.core != nil else { return (false, nil) }
      life.cancellation = cancellation
      return (life.core == nil, life.core)
    }
    core?.cancel(dueTo: nil, producingResumeData: cancellation == .keepingBytes)
    if isNew { transferID.cancel() }
    return isNew
  }

  var currentProgress: TransferProgress {
    if let core = life.withLock({ $0.core }) { return core.progress(.download) }
    return progress.withLock { TransferProgress(completed: $0.received, total: $0.length < 0 ? nil : $0.length) }
  }
}
