import HTTPTypes
import Synchronization
import WireValues

/// Receives the response to one `RangeQuestion` and fills the part file.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and by the pipeline afterwards;
/// the loop's continuation separates the two. Checkpoints read only `shared`, which has a lock.
final class DownloadReceiver: TransferReceiver, @unchecked Sendable {
  /// What the pipeline has to do next.
  enum Ending: Sendable {
    /// The transfer ended before a head arrived.
    case none
    case redirect(ResponseHead)
    /// The body belongs to the file. The pipeline checks whether it is complete.
    case body
    case alreadyComplete(ResponseHead)
    case nextStrategy(reason: String)
    /// The bytes that were fetched again differ from those on disk.
    case differs(reason: String)
    /// The body is encoded although the request asked for identity: repeat the request, and decode or not.
    case encoded(decode: Bool)
    /// Nothing is to be fetched: the destination stays.
    case kept(KeptFile)
    /// The destination has the announced length: it stays if it has these digests.
    case verify(name: String, FileStamp, [ExpectedDigest])
  }

  /// What the checkpointer may read at any time.
  struct Shared {
    var resumeData: ResumeData?
    var part: PartialFile?
    /// Valid bytes in the part file.
    var written: Int64 = 0
    /// A durable record names this part file and its validators.
    var isRecorded = false
    var board: SegmentBoard?
  }

  var ending = Ending.none
  private(set) var head: ResponseHead?
  /// Body bytes received, including those that were fetched again.
  private(set) var received: Int64 = 0
  private(set) var total: Int64?
  /// Where the file goes; known when a response with the file has arrived.
  private(set) var target: DownloadTarget?
  /// Digests of the whole file; `nil` if its bytes did not all arrive here in order.
  private(set) var digests: [DigestAlgorithm: String]?
  private(set) var isAppending = false
  /// Whether all bytes that had to equal those on disk have arrived and do.
  var isCompared: Bool { overlapLeft == 0 }
  /// Whether the body ended before the last byte that the head announced, and that no other connection fetches.
  var isShort: Bool { !isCompared || !hasStoppedAtLimit && end.map { offset < min($0, limit) } ?? false }
  /// Another connection had, or was to have, what follows.
  private var hasStoppedAtLimit = false
  /// What other connections fetch of the file; `nil` if this is the only one.
  private(set) var board: SegmentBoard?
  /// The offset up to which this transfer writes.
  private var limit: Int64 { board.map { $0.limit(of: $0.lead) ?? 0 } ?? .max }

  let shared: Mutex<Shared>

  /// What was decided about the destination; `nil` if the response gives its name.
  var existing: ExistingFileDecision?

  let plan: DownloadPlan
  let directory: Directory?
  private let partDirectory: Directory?
  private let question: RangeQuestion
  private let isDecoding: Bool
  private let stored: ResumeData?
  private let pieces: ByteRanges?
  private let check: @Sendable (ResponseHead) throws(TransferError) -> Void
  private let signal: @Sendable (Bool) -> Void
  private let progressed: @Sendable (Int64, Int64?) -> Void
  private let beginSegments: @Sendable (SegmentBoard) -> Void

  private var part: PartialFile?
  private var offset: Int64 = 0
  private var digester: Digester?
  private var overlapLeft: Int64 = 0
  /// The offset after the last byte that the head announced; for a part it may be before the end of the file.
  private var end: Int64?
  private var needsRecord = false
  private var writtenAtSignal: Int64 = 0
  private var signalledAt = ContinuousClock.now

  /// Bytes that may arrive before the record that makes them resumable is durable.
  static let unrecordedLimit = CheckpointRule.unrecordedLimit

  /// - Parameters:
  ///   - partDirectory: where the part file is created; `nil`: beside the destination.
  ///   - part: the part file that the question refers to.
  ///   - pieces: the bytes in it, if they are not simply its first ones.
  ///   - check: the user's validations of the head that precedes the file's bytes.
  ///   - signal: asks for a checkpoint; `true` if the transfer waits for it.
  ///   - progressed: bytes in the file, and the total if known; called on the loop's thread.
  ///   - beginSegments: gets the board of a file that several connections may fetch; called on the loop's thread, once.
  init(
    plan: DownloadPlan, directory: Directory?, partDirectory: Directory? = nil, question: RangeQuestion,
    isDecoding: Bool, stored: ResumeData?,
    part: PartialFile?, pieces: ByteRanges? = nil,
    check: @escaping @Sendable (ResponseHead) throws(TransferError) -> Void = { _ in },
    signal: @escaping @Sendable (Bool) -> Void,
    progressed: @escaping @Sendable (Int64, Int64?) -> Void,
    beginSegments: @escaping @Sendable (SegmentBoard) -> Void = { _ in }
  ) {
    self.plan = plan
    self.directory = directory
    self.partDirectory = partDirectory
    self.question = question
    self.isDecoding = isDecoding
    self.stored = stored
    self.part = part
    self.pieces = pieces
    self.check = check
    self.signal = signal
    self.progressed = progressed
    self.beginSegments = beginSegments
    shared = Mutex(Shared(resumeData: stored, part: part, written: question.bytesOnDisk, isRecorded: stored != nil))
  }

  // MARK: Head

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    self.head = head
    if head.isRedirect {
      ending = .redirect(head)
      return .dropBody
    }
    let decision = ResumeDecision(
      head: head, question: question,
      stored: plan.continuity == .byContent ? Validators() : stored?.validators, storedTotal: stored?.totalBytes,
      retryAfter: head.retryAfter)
    switch decision {
    case .append(let overlap, let total):
      return try beginAppending(head, overlap: overlap, total: total)
    case .startOver(let total):
      return try beginOver(head, total: total)
    case .alreadyComplete:
      ending = .alreadyComplete(head)
      return .dropBody
    case .unchanged:
      ending = try unchanged(head)
      return .dropBody
    case .nextStrategy(let reason):
      ending = .nextStrategy(reason: reason)
      return .stop
    case .fail(.response(.unacceptableStatus(let status, let delay))):
      refusal = .response(.unacceptableStatus(status, retryAfter: delay))
      return .dropBody
    case .fail(let error):
      throw error
    }
  }

  /// A status or a validation that ends the attempt, after the rest of a short body was read.
  private(set) var refusal: TransferError?

  /// - Parameter head: `nil` for protocols without one.
  private func beginAppending(
    _ head: ResponseHead?, overlap: Int64, total: Int64?
  ) throws(TransferError) -> HeadVerdict {
    guard let part, let stored else { throw .response(.unrequestedPartialContent) }
    if let head, !isAccepted(head, total: total) { return .dropBody }
    if plan.continuity == .byTag, stored.validators.strongETag != head.flatMap({ Validators(of: $0).strongETag }) {
      ending = .nextStrategy(reason: "another source sent a part without the same ETag")
      return .stop
    }
    if plan.chooser != nil { target = try plan.target(for: head, in: nil, existing) }
    offset = question.start
    overlapLeft = overlap
    self.total = total
    end = total
    if let field = head?.headers[.contentRange], case .part(_, let last, _)? = ContentRange(field) {
      end = try (CheckedNumber(last) + 1).orThrow(TransferError.response(.malformed("Content-Range: \(field)")))
    }
    isAppending = true
    if let total { try plan.destination.attributes.check(size: total) }
    // What was reserved for segments is not free, and not needed again.
    let have = max(pieces?.count ?? question.bytesOnDisk, part.allocatedBytes)
    let home = target?.directory ?? directory
    try checkSpace(for: total, onDisk: min(have, total ?? have), in: part.directory, copiedTo: home)
    var data = stored
    data.refusals = 0
    // The file was truncated to its valid bytes: from now on this boot's page cache has them all.
    data.bootID = BootID.current
    // The map of an earlier attempt may name bytes that a failed sync has lost.
    data.segments?.map = nil
    data.totalBytes = total
    if plan.continuity != .sameSource, let head {
      // From now on the bytes are those of this source.
      (data.url, data.validators) = (plan.request.url.withoutQuery, Validators(of: head))
    }
    data.servesRanges = true
    shared.withLock { $0.resumeData = data }
    ending = .body
    shareWork(data, isResumable: head != nil)
    progressed(board?.completed.count ?? question.bytesOnDisk, total)
    return .takeBody
  }

  private func beginOver(_ head: ResponseHead, total: Int64?) throws(TransferError) -> HeadVerdict {
    if let coding = head.contentCoding, !isDecoding, let decode = plan.mustDecode(coding, head) {
      ending = .encoded(decode: decode)
      return .stop
    }
    guard isAccepted(head, total: total) else { return .dropBody }
    if let ending = try endingOfExisting(head, total: total) {
      self.ending = ending
      return .dropBody
    }
    let declared = DeclaredDigests.of(head)
    // A Range cannot be requested of an encoded body.
    let isResumable = head.contentCoding == nil
    return try beginFile(
      head, isResumable ? Validators(of: head) : Validators(), declared, isResumable: isResumable, total: total)
  }

  /// Creates a new part file and its resume data.
  private func beginFile(
    _ head: ResponseHead?, _ validators: Validators, _ declared: [ExpectedDigest], isResumable: Bool, total: Int64?
  ) throws(TransferError) -> HeadVerdict {
    let target = try plan.target(for: head, in: directory, existing)
    self.target = target
    // A download that has to wait for its space knows how much it needs.
    if plan.destination.attributes.allowance != nil { self.total = total }
    if let total { try plan.destination.attributes.check(size: total) }
    // The bytes of another version, and what was reserved for it, are given up. An empty file makes its record worthless.
    if pieces != nil { try self.part?.truncate(to: 0) }
    let place = partDirectory ?? target.directory
    try checkSpace(for: total, onDisk: 0, in: place, copiedTo: target.directory)
    let part = try PartialFile.create(in: place, name: plan.partialName)
    self.part = part
    self.total = total
    end = total
    offset = 0
    let algorithms = Set((plan.expectedDigests + declared).map(\.algorithm))
    if !algorithms.isEmpty { digester = Digester(algorithms) }
    var data = plan.resumeData(of: part, for: target, validators, declared, total: total)
    data.refusals = question.isRanged ? (stored?.refusals ?? 0) + 1 : stored?.refusals ?? 0
    // A server that announces ranges may refuse them anyway.
    let announcesRanges = head.map { $0.headers[.acceptRanges]?.lowercased() == "bytes" } ?? true
    data.servesRanges = isResumable && announcesRanges && data.refusals == 0 ? true : nil
    shared.withLock { $0 = Shared(resumeData: isResumable ? data : nil, part: part) }
    needsRecord = isResumable && plan.journal != nil && (total ?? .max) > Self.unrecordedLimit
    if needsRecord { signal(false) }
    ending = .body
    if head != nil { shareWork(data, isResumable: isResumable) }
    progressed(0, total)
    return .takeBody
  }

  /// Lets other connections fetch parts of the file, if that is allowed and the file can be recognised.
  private func shareWork(_ data: ResumeData, isResumable: Bool) {
    if let head, plan.lead == 0, plan.hasDigest(data) {
      plan.sources.discover(in: head, of: plan.request, plan.request.redirects ?? .public)
    }
    guard let total, (1...SegmentPlan.maximumTotal).contains(total) else { return }
    // Bytes after a gap are on disk, so the transfer has to end where they begin.
    let completed = isAppending ? pieces : nil
    guard completed != nil || isResumable && plan.mayShareWork(data, total: total, head) else { return }
    board = SegmentBoard(
      total: total, completed: completed, leadFrom: isAppending ? question.bytesOnDisk : 0, upTo: end ?? total,
      isRanged: isAppending, announcesRanges: head?.headers[.acceptRanges]?.lowercased() == "bytes",
      source: plan.lead, pieces: plan.pieceCheck(total: total))
    if let board {
      shared.withLock { $0.board = board }
      if overlapLeft == 0 { beginSegments(board) }
    }
  }

  /// A response that the user refuses is not written and does not replace stored bytes.
  private func isAccepted(_ head: ResponseHead, total: Int64?) -> Bool {
    if let error = plan.refusal(ofTotal: total, stored: stored?.totalBytes) {
      refusal = error
      return false
    }
    do throws(TransferError) {
      try check(head)
      return true
    } catch {
      refusal = error
      return false
    }
  }

  // MARK: Facts, where the protocol has no head

  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict {
    if let size = facts.size, size < 0 {
      throw .response(.malformed("the server says that the file has \(size) bytes"))
    }
    switch ResumeDecision(facts: facts, question: question, stored: stored) {
    case .append(let overlap, let total):
      return try beginAppending(nil, overlap: overlap, total: total)
    case .startOver(let total):
      return try beginFile(nil, Validators(of: facts), [], isResumable: facts.isResumable, total: total)
    case .nextStrategy(let reason):
      ending = .nextStrategy(reason: reason)
      return .stop
    case .fail(let error): throw error
    case .alreadyComplete, .unchanged: return .stop
    }
  }

  // MARK: Body

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard let part else { return .stop }
    let afterwards = try (CheckedNumber(offset) + bytes.count).orThrow(Self.tooLong)
    try plan.destination.attributes.check(size: afterwards)
    if needsRecord, afterwards > Self.unrecordedLimit {
      guard shared.withLock({ $0.isRecorded }) else {
        signal(true)
        return .pause
      }
      needsRecord = false
    }
    received = received.saturatingSum(Int64(bytes.count))
    var fresh = bytes
    if overlapLeft > 0 {
      let count = Int(min(overlapLeft, Int64(bytes.count)))
      guard try part.holds(.init(rebasing: bytes[..<count]), at: offset) else {
        ending = .differs(reason: "the bytes fetched again differ from those on the disk")
        return .stop
      }
      overlapLeft -= Int64(count)  // checked: count is at most overlapLeft
      offset += Int64(count)  // checked: at most `afterwards`
      // Nothing may be joined to bytes that turn out to be of another version.
      if overlapLeft == 0, let board { beginSegments(board) }
      fresh = .init(rebasing: bytes[count...])
      if fresh.isEmpty { return .taken }
    }
    if let end, afterwards > end {
      throw .response(.malformed("more bytes arrived than were announced"))
    }
    // Another connection has what follows, or will have it.
    let limit = limit
    let isLast = afterwards >= limit && limit < end ?? .max
    if isLast {
      hasStoppedAtLimit = true
      guard offset < limit else { return .stop }
      fresh = .init(rebasing: fresh[..<Int(min(Int64(fresh.count), limit - offset))])  // checked: offset < limit
    }
    try part.write(fresh, at: offset)
    digester?.update(fresh)
    offset += Int64(fresh.count)  // checked: at most `afterwards`
    plan.sources.receive(Int64(fresh.count), from: plan.lead)
    didWrite(part)
    return isLast ? .stop : .taken
  }

  private static let tooLong = TransferError.response(.malformed("the body is longer than the largest file"))

  private func didWrite(_ part: PartialFile) {
    let offset = offset
    shared.withLock { $0.written = offset }
    if let board {
      let progress = board.advance(board.lead, to: offset)
      progressed(progress.completed, total)
      if progress.isCheckpointDue, plan.journal != nil, !needsRecord { signal(false) }
      return
    }
    progressed(offset, total)
    guard plan.journal != nil, !needsRecord else { return }
    let unsignalled = offset - writtenAtSignal  // checked: 0 ≤ writtenAtSignal ≤ offset
    if CheckpointRule.isDue(bytes: unsignalled, since: signalledAt) {
      writtenAtSignal = offset
      signalledAt = .now
      signal(false)
    }
  }

  /// Called once, after the transfer.
  func close() {
    digests = board?.isSegmented == true ? nil : digester?.finalize()
    digester = nil
  }
}
