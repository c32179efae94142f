import Synchronization
import WireValues

/// What the connections of one download share: which of them fetches what, what is on disk, and how they are ended.
///
/// The *lead* is the download's ordinary transfer. It fetches up to the next byte that another connection has or is fetching.
final class SegmentBoard: Sendable {
  /// What follows from written bytes.
  struct Progress: Sendable {
    /// Bytes of the file on disk.
    var completed: Int64
    var isCheckpointDue: Bool
  }

  /// The lead's segment.
  let lead: Int
  let total: Int64
  /// The lead's server says that it serves ranges.
  let announcesRanges: Bool

  private struct State {
    var plan: SegmentPlan
    var map: PieceMap?
    /// Ranges elsewhere in the file are on disk or will be: records must say which.
    var isSegmented: Bool
    var crew: Task<Void, Never>?
    var failure: TransferError?
    var isCancelled = false
    /// Ends the transfer of a segment.
    var cancellations: [Int: @Sendable () -> Void] = [:]
    var beganAt: [Int: ContinuousClock.Instant] = [:]
    var unsignalled: Int64 = 0
    var signalledAt = ContinuousClock.now
    /// Body bytes of all connections but the lead.
    var received: Int64 = 0
    /// The highest rate of a connection that has ended.
    var fastest: Double?
    /// The source that fetches a segment.
    var owners: [Int: Int] = [:]
    /// How the connections with each source have begun.
    var starts: [Int: ConnectionStarts] = [:]
    /// Which bytes each source has sent.
    var contributions: [Int: ByteRanges] = [:]
    var check: PieceCheck?
  }
  private let state: Mutex<State>
  /// The lead's transfer has ended.
  let leadEnd = OneShot()
  /// The server has sent a range.
  let confirmation = OneShot()
  /// Enough is on disk to compare the bytes of another source with.
  let sampleReady = OneShot()
  /// The numbers of pieces that are complete and not checked yet.
  let completePieces: AsyncStream<Int>
  private let pieceSink: AsyncStream<Int>.Continuation

  /// - Parameters:
  ///   - total: 1 to `SegmentPlan.maximumTotal`.
  ///   - completed: the bytes on disk, if they are not simply the file's first ones.
  ///   - offset: the first byte that the lead writes.
  ///   - end: the offset after the last byte of the lead's response.
  ///   - isRanged: the lead's response is a range.
  ///   - announcesRanges: its server says that it serves ranges.
  ///   - source: the lead's.
  ///   - pieces: the digests of the file's pieces, if they cover it.
  /// - Returns: `nil` if that byte is on disk already.
  init?(
    total: Int64, completed: ByteRanges?, leadFrom offset: Int64, upTo end: Int64, isRanged: Bool,
    announcesRanges: Bool = false, source: Int = 0, pieces: PieceCheck? = nil
  ) {
    // checked: offset > 0
    let before = completed ?? (offset > 0 ? ByteRanges(0..<offset) : ByteRanges())
    var plan = SegmentPlan(total: total, completed: before)
    guard let lead = plan.begin(at: offset, upTo: end) else { return nil }
    self.lead = lead
    self.total = total
    self.announcesRanges = announcesRanges
    (completePieces, pieceSink) = AsyncStream.makeStream()
    var check = pieces
    for range in before.ranges {
      for piece in check?.written(range, completed: before) ?? [] { pieceSink.yield(piece) }
    }
    var state = State(plan: plan, isSegmented: completed != nil, beganAt: [lead: .now], owners: [lead: source])
    if !before.isEmpty { state.contributions[PieceCheck.earlier] = before }
    state.check = check
    self.state = Mutex(state)
    if isRanged { confirmation.happen() }
    if before.count >= sampleReadyBytes { sampleReady.happen() }
  }

  /// As many bytes of another source are compared before it fetches anything, if they are on disk.
  static let sampleBytes: Int64 = 64 << 10
  /// The bytes at a file's very beginning say little: two versions of an image, or of an archive, often share them.
  private static let sampleEnd: Int64 = 2 << 20
  /// So many bytes are waited for, but of a small file not many.
  private var sampleReadyBytes: Int64 { max(Self.sampleBytes, min(Self.sampleEnd, total / 16)) }

  // MARK: For the receivers, on the loop's thread

  /// The offset up to which a connection may write; `nil` if it has to end.
  func limit(of id: Int) -> Int64? { state.withLock { $0.plan.segment(id)?.end } }

  /// The lead's server has sent a range.
  func confirm() {
    // Also after the first time: a segment may have been taken at the same moment.
    state.withLock { $0.plan.confirm() }
    confirmation.happen()
  }

  /// Bytes up to the offset are in the part file.
  func advance(_ id: Int, to offset: Int64) -> Progress {
    state.withLock { state in
      guard let segment = state.plan.segment(id), case let position = segment.position, offset > position else {
        return Progress(completed: state.plan.completed.count, isCheckpointDue: false)
      }
      if position == segment.start { Self.noteStart(of: id, &state) }
      state.plan.advance(id, to: offset)
      if let map = state.map, let written = state.plan.completed.range(at: position),
        !map.note(position..<min(offset, written.upperBound), within: written)
      {
        state.map = nil
      }
      // checked: offset > position, by the guard
      noteSource(of: id, position..<offset, &state)
      state.unsignalled = state.unsignalled.saturatingSum(offset - position)  // checked: offset > position ≥ 0
      if id != lead { state.received = state.received.saturatingSum(offset - position) }  // checked: as above
      return Progress(completed: state.plan.completed.count, isCheckpointDue: Self.isCheckpointDue(&state))
    }
  }

  private static func noteStart(of id: Int, _ state: inout State) {
    guard let owner = state.owners[id], let began = state.beganAt[id] else { return }
    state.starts[owner]?.received(id, after: began.duration(to: .now) / .seconds(1))
  }

  private func noteSource(of id: Int, _ range: Range<Int64>, _ state: inout State) {
    if let owner = state.owners[id] { state.contributions[owner, default: ByteRanges()].insert(range) }
    for piece in state.check?.written(range, completed: state.plan.completed) ?? [] { pieceSink.yield(piece) }
    if !sampleReady.hasHappened, state.plan.completed.ranges.first?.length ?? 0 >= sampleReadyBytes {
      sampleReady.happen()
    }
  }

  private static func isCheckpointDue(_ state: inout State) -> Bool {
    guard CheckpointRule.isDue(bytes: state.unsignalled, since: state.signalledAt) else { return false }
    state.unsignalled = 0
    state.signalledAt = .now
    return true
  }

  // MARK: For records

  /// The bytes on disk for a record; `nil` if they are simply the file's first ones.
  var record: SegmentRecord? {
    state.withLock { state in
      state.isSegmented ? .init(synced: state.plan.completed, map: state.map?.identity) : nil
    }
  }

  /// From now on records say which bytes are on disk.
  /// - Parameter makeMap: makes the map of the bytes on disk. Blocks for a moment.
  func beginSegments(_ makeMap: (ByteRanges) -> PieceMap?) {
    let completed = state.withLock { state in
      state.isSegmented = true
      return state.plan.completed
    }
    // Not below the lock, for which the loop's thread waits.
    guard let map = makeMap(completed) else { return }
    state.withLock { state in
      let written = state.plan.completed.ranges
      state.map = written.allSatisfy { map.note($0, within: $0) } ? map : nil
    }
  }

  var isSegmented: Bool { state.withLock { $0.isSegmented } }
  var completed: ByteRanges { state.withLock { $0.plan.completed } }
  var isComplete: Bool { state.withLock { $0.plan.isComplete } }
  /// Body bytes that connections other than the lead have received.
  var received: Int64 { state.withLock { $0.received } }

  // MARK: For the crew

  /// A segment for a free connection; `nil` if nothing is left that would be worth one.
  /// - Parameters:
  ///   - source: whose connection it is.
  ///   - known: bytes a second of its connections; `nil`: unknown.
  ///   - servesRanges: the source has sent a range.
  ///   - sharers: how many connections begin now, this one included.
  func take(for source: Int, known: Double? = nil, servesRanges: Bool, sharers: Int = 1) -> SegmentPlan.Segment? {
    state.withLock { state in
      guard !state.isCancelled else { return nil }
      let rates = Self.rates(state)
      let segment = state.plan.take(
        rate: known ?? [rates.values.max(), state.fastest].compactMap(\.self).max(), known: known, rates: rates,
        start: (state.starts[source] ?? ConnectionStarts()).next, sharers: sharers, isTentative: !servesRanges)
      if let segment {
        state.beganAt[segment.id] = .now
        state.starts[source, default: ConnectionStarts()].began(segment)
        state.owners[segment.id] = source
      }
      Self.cancelEmpty(&state)
      return segment
    }
  }

  /// Bytes a second of the connections that have run for a second or more, and have begun to bring something or never will.
  private static func rates(_ state: State) -> [Int: Double] {
    var rates: [Int: Double] = [:]
    for segment in state.plan.segments {
      guard let began = state.beganAt[segment.id] else { continue }
      let seconds = began.duration(to: .now) / .seconds(1)
      let starts = state.owners[segment.id].flatMap { state.starts[$0] } ?? ConnectionStarts()
      guard seconds >= (segment.position > segment.start ? 1 : starts.patience) else { continue }
      rates[segment.id] = Double(segment.position - segment.start) / seconds  // checked: start ≤ position
    }
    return rates
  }

  /// Ends connections whose rest another one has taken.
  private static func cancelEmpty(_ state: inout State) {
    for segment in state.plan.segments where segment.rest == 0 { state.cancellations[segment.id]?() }
  }

  /// Sets how the transfer of a segment is ended from outside.
  func register(_ id: Int, cancel: @escaping @Sendable () -> Void) {
    let isObsolete = state.withLock { state in
      state.cancellations[id] = cancel
      return state.isCancelled || state.plan.isComplete || state.plan.segment(id) == nil
    }
    if isObsolete { cancel() }
  }

  /// The connection of a segment has ended. What it has not fetched is free.
  func end(_ id: Int) {
    state.withLock { state in
      if let segment = state.plan.segment(id), let began = state.beganAt[id] {
        let seconds = max(began.duration(to: .now) / .seconds(1), 0.1)
        // checked: start ≤ position
        state.fastest = max(Double(segment.position - segment.start) / seconds, state.fastest ?? 0)
      }
      if let segment = state.plan.segment(id), let owner = state.owners[id] { state.starts[owner]?.ended(segment) }
      state.plan.end(id)
      if id != lead { state.owners[id] = nil }
      state.cancellations[id] = nil
      state.beganAt[id] = nil
    }
  }

  /// Ends the connection that began last, because it does not help.
  func dismissNewest() {
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      guard let newest = state.plan.segments.filter({ $0.id != lead }).map(\.id).max() else { return nil }
      return state.cancellations[newest]
    }
    cancel?()
  }
}

// MARK: - Sources and pieces

extension SegmentBoard {
  /// Bytes that are on disk, to compare another source's with; at most `sampleBytes`, and the last ones of the first range.
  var sample: Range<Int64>? {
    state.withLock { state in
      guard let first = state.plan.completed.ranges.first else { return nil }
      // checked: the range is not empty, and its bounds are not negative
      return max(first.lowerBound, first.upperBound - Self.sampleBytes)..<first.upperBound
    }
  }

  /// Which bytes each source has sent.
  var contributions: [Int: ByteRanges] { state.withLock { $0.contributions } }

  /// Pieces whose digest is right.
  var goodPieces: Set<Int> { state.withLock { $0.check?.good ?? [] } }

  /// The digest of a complete piece was compared. A wrong one is fetched again.
  /// - Returns: the sources of its bytes, if it is wrong.
  func judge(_ piece: Int, isGood: Bool) -> Set<Int> {
    state.withLock { state in
      guard var check = state.check else { return [] }
      check.judge(piece, isGood: isGood)
      state.check = check
      guard !isGood else { return [] }
      let range = check.digests.range(piece, total: total)
      state.plan.discard(range)
      // Records must not take the file's length for the number of good bytes.
      state.isSegmented = true
      let sources = state.contributions.filter { $0.value.overlaps(range) }.keys
      for source in sources { state.contributions[source]?.remove(range) }
      return Set(sources)
    }
  }

  /// Ends all connections with a source.
  func dismiss(source: Int) {
    let cancellations = state.withLock { state in
      state.cancellations.filter { state.owners[$0.key] == source }.map(\.value)
    }
    for cancel in cancellations { cancel() }
  }

  /// No piece will be checked any more.
  func endChecks() { pieceSink.finish() }
}

// MARK: - Beginning and end

extension SegmentBoard {
  /// Starts the task that runs the other connections.
  func start(_ crew: @escaping @Sendable () async -> Void) {
    state.withLock { $0.crew = Task { await crew() } }
  }

  /// Whether other connections have taken all that the lead had left.
  var isLeadReleased: Bool { state.withLock { $0.plan.segment(lead).map { $0.rest == 0 } ?? true } }

  /// The file is complete: connections that still run are not needed.
  func cancelRest() {
    for cancel in state.withLock({ Array($0.cancellations.values) }) { cancel() }
  }

  /// The lead's transfer has ended; another connection may fetch what it left. Returns when all connections have ended.
  /// Cancelling the task ends them.
  func finish() async {
    end(lead)
    leadEnd.happen()
    let crew = state.withLock { $0.crew }
    await withTaskCancellationHandler {
      await crew?.value
    } onCancel: {
      self.cancel()
    }
  }

  /// Ends all connections. What they have written stays.
  func cancel() {
    let (cancellations, crew) = state.withLock { state in
      state.isCancelled = true
      return (Array(state.cancellations.values), state.crew)
    }
    for cancel in cancellations { cancel() }
    crew?.cancel()
  }

  /// Ends all connections with an error of the disk or the journal, after which the download must not go on.
  func fail(_ error: TransferError) {
    state.withLock { if $0.failure == nil { $0.failure = error } }
    cancel()
  }

  var failure: TransferError? { state.withLock { $0.failure } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }
}
