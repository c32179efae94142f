import Threads
import WireValues

/// How one connection of a segment has ended.
enum SegmentOutcome: Sendable {
  /// Its bytes are there, or another connection has taken the rest of them.
  case ended
  /// The server does not serve ranges of this version: only the first connection goes on.
  case refused(reason: String)
  /// The server has enough connections, or asks to wait.
  case overloaded(reason: String)
  /// The connection broke.
  /// - Parameter received: bytes that it brought.
  case broken(received: Int64)
  /// The disk refused the bytes.
  case failed(TransferError)
}

/// What the first request to another source has shown.
enum ProbeOutcome: Sendable {
  /// It has the file and serves ranges of it.
  case usable
  /// It is not asked again.
  case dropped(DownloadSources.Drop)
  /// It takes no connection now.
  case overloaded(reason: String)
  /// It was not the source that failed, or the download has ended.
  case cancelled
}

/// Runs the connections of one download beside its first one: as many as `SegmentGrowth` allows, each with a segment from the
/// board, from the source that `DownloadSources` chooses. It ends when the file is complete, or when nothing more can be
/// expected of further connections.
struct SegmentCrew: Sendable {
  let board: SegmentBoard
  let segmentation: Segmentation
  let sources: DownloadSources
  /// The source of the first connection.
  let lead: Int
  /// Makes the part file and its record ready for bytes at any place. Durable before it returns.
  let prepare: @Sendable () async throws(TransferError) -> Void
  /// Fetches one segment from a source.
  let fetch: @Sendable (SegmentPlan.Segment, _ source: Int) async -> SegmentOutcome
  /// Asks a source other than the lead's for the first time.
  let probe: @Sendable (_ source: Int) async -> ProbeOutcome
  /// Compares the digest of a complete piece; `nil` if it cannot be read.
  let check: @Sendable (_ piece: Int) async -> Bool?
  /// Called when further connections are given up.
  let didGiveUp: @Sendable (_ reason: String) -> Void

  private enum Event: Sendable {
    case leadEnded
    /// The server serves ranges.
    case confirmed
    case tick
    /// Other sources can be compared with what is on disk, or enough time has passed without that.
    case sample
    case probed(Int, ProbeOutcome)
    case ended(Int, source: Int, SegmentOutcome)
    case checked(Int, isGood: Bool?)
    case checksEnded
  }

  /// Other sources are asked after this time even if too little is on disk to compare them with.
  private static let sampleDelay = Duration.seconds(1)

  /// After this many broken connections without anything received, no further one is tried.
  private static let maximumFailures = 5

  /// The state of one run.
  private struct Run {
    var growth: SegmentGrowth
    var isPrepared = false
    /// Connections that fetch a segment or ask a source for the first time.
    var workers: [Int: Int] = [:]
    var permits: [Int: Int] = [:]
    /// Sources other than the lead's that have shown that they have the file.
    var usable: Set<Int> = []
    var probing: Set<Int> = []
    var mayProbe = false
    var failures = 0
    /// The lead's source gets no further connection.
    var hasGivenUp = false
    var isLeadRunning = true
    /// The last connection that ended had done its part. There may be none now because nothing was worth one.
    var hasHelped = false
    var measured: (at: ContinuousClock.Instant, bytes: Int64)
    var working: Int { workers.values.reduce(0) { $0.saturatingSum($1) } }
    var connections: Int { working + (isLeadRunning ? 1 : 0) }  // checked: counts connections
  }

  func run() async {
    var run = Run(
      growth: SegmentGrowth(segmentation.policy, sources: sources.usable), measured: (.now, board.completed.count))
    await withTaskGroup(of: Event.self) { group in
      addWaiting(&group)
      if segmentation.policy.maximum > 1 { addTick(&group) }
      if board.isSegmented { await prepare(&run) }
      await fill(&run, &group)
      while !isOver(run), let event = await group.next() {
        await handle(event, &run, &group)
      }
      // The lead may still run; its end is awaited by the download itself.
      group.cancelAll()
      board.endChecks()
      await releasePermits(&run, keeping: [:])
    }
  }

  private func addWaiting(_ group: inout TaskGroup<Event>) {
    group.addTask {
      await board.leadEnd.wait()
      return .leadEnded
    }
    group.addTask {
      await board.confirmation.wait()
      return .confirmed
    }
    if sources.hasOthers(than: lead) {
      group.addTask {
        await board.sampleReady.wait()
        return .sample
      }
      group.addTask {
        try? await Task.pause(for: Self.sampleDelay)
        return .sample
      }
    }
    if sources.pieces != nil { addCheck(&group) }
  }

  private func isOver(_ run: Run) -> Bool {
    guard run.working == 0 else { return false }
    if board.isComplete || board.isCancelled || !run.isLeadRunning { return true }
    return run.hasGivenUp && !sources.hasOthers(than: lead)
  }

  private func handle(_ event: Event, _ run: inout Run, _ group: inout TaskGroup<Event>) async {
    switch event {
    case .leadEnded:
      run.isLeadRunning = false
      // If no other connection has helped, the crew ends, and the download requests the rest or fails.
      if run.working > 0 || run.hasHelped { await fill(&run, &group) }
    case .confirmed:
      await fill(&run, &group)
    case .sample:
      guard !Task.isCancelled, !run.mayProbe else { return }
      run.mayProbe = true
      await fill(&run, &group)
    case .tick:
      guard !Task.isCancelled else { return }
      measure(&run)
      await fill(&run, &group)
      if !board.isComplete { addTick(&group) }
    case .probed(let source, let outcome):
      end(source, &run)
      run.probing.remove(source)
      note(outcome, of: source, &run)
      await fill(&run, &group)
    case .ended(let id, let source, let outcome):
      board.end(id)
      end(source, &run)
      note(outcome, of: source, &run)
      // A connection that broke is replaced at the next measurement, not at once.
      if case .broken = outcome, run.isLeadRunning || run.working > 0 { return }
      await fill(&run, &group)
    case .checked(let piece, let isGood):
      addCheck(&group)
      if isGood == false {
        judge(board.judge(piece, isGood: false), piece)
        await fill(&run, &group)
      } else if isGood == true {
        _ = board.judge(piece, isGood: true)
      }
    case .checksEnded: break
    }
    if board.isComplete { board.cancelRest() }
  }

  private func end(_ source: Int, _ run: inout Run) {
    // checked: it is positive while a connection runs
    if let count = run.workers[source] { run.workers[source] = max(0, count - 1) }
    sources.disconnect(source)
  }

  private func note(_ outcome: ProbeOutcome, of source: Int, _ run: inout Run) {
    switch outcome {
    case .usable: run.usable.insert(source)
    case .dropped(let drop): sources.drop(source, drop)
    case .overloaded(let reason): limit(source, reason)
    case .cancelled: break
    }
  }

  private func limit(_ source: Int, _ reason: String) {
    if !sources.limit(source) { sources.drop(source, .init(reason: reason)) }
  }

  private func note(_ outcome: SegmentOutcome, of source: Int, _ run: inout Run) {
    let isLead = source == lead
    if case .ended = outcome { run.hasHelped = true } else { run.hasHelped = false }
    switch outcome {
    case .ended:
      if isLead { run.failures = 0 } else { _ = sources.fail(source, hasReceived: true) }
    case .overloaded(let reason) where !isLead || sources.hasOthers(than: lead): limit(source, reason)
    case .overloaded:
      run.growth.refused(connections: run.connections)
      // No connection is left: the attempt ends, and the next one waits as long as the server asks for.
      if run.connections == 0 { giveUp("the server takes no connection now", &run) }
    case .refused(let reason) where isLead: giveUp(reason, &run)
    case .refused(let reason): sources.drop(source, .init(reason: reason))
    case .broken(let received) where isLead:
      run.failures = received > SegmentPlan.minimumRest ? 0 : run.failures + 1  // checked: at most the maximum
      if run.failures >= Self.maximumFailures { giveUp("further connections break", &run) }
    case .broken(let received):
      if sources.fail(source, hasReceived: received > SegmentPlan.minimumRest) {
        sources.drop(source, .init(reason: "its connections break"))
      }
    case .failed(let error): board.fail(error)
    }
  }

  private func giveUp(_ reason: String, _ run: inout Run) {
    guard !run.hasGivenUp else { return }
    run.hasGivenUp = true
    didGiveUp(reason)
  }

  /// A piece is wrong: the source that has sent it is dropped. If several have, it is unknown which of them is to blame.
  private func judge(_ culprits: Set<Int>, _ piece: Int) {
    for source in culprits where source >= 0 {
      guard culprits.count == 1 || sources.strike(source) else { continue }
      sources.drop(source, .wrongPiece(piece, sources.pieces))
      board.dismiss(source: source)
    }
  }

  private func measure(_ run: inout Run) {
    let (now, bytes) = (ContinuousClock.now, board.completed.count)
    let seconds = run.measured.at.duration(to: now) / .seconds(1)
    let rate = Double(bytes - run.measured.bytes) / max(seconds, 0.001)  // checked: counts of bytes on disk
    run.measured = (now, bytes)
    let before = run.growth.allowed
    // checked: a part of the total
    run.growth.measured(rate: rate, rest: board.total - bytes, connections: run.connections)
    if run.growth.allowed < before, run.working > 0 { board.dismissNewest() }
  }

  /// Whether one more connection with a source may run beside those that do. A mirror's server is asked about each; the
  /// download's own only by automatic downloads, because its first connection is part of the job.
  private func mayAdd(_ source: Int, _ run: inout Run) async -> Bool {
    let isOwn = source == 0
    if isOwn {
      guard case .automatic = segmentation.policy, lead == 0 else { return true }
    }
    guard let permits = isOwn ? segmentation.permits : sources.source(source).permits else { return true }
    guard run.permits[source, default: 0] <= run.workers[source, default: 0] else { return true }
    guard await permits.acquire() else { return false }
    run.permits[source, default: 0] += 1
    return true
  }

  /// Gives back the permits of connections that do not run any more.
  private func releasePermits(_ run: inout Run, keeping counts: [Int: Int]) async {
    for (source, count) in run.permits {
      let permits = source == 0 ? segmentation.permits : sources.source(source).permits
      var count = count
      while count > counts[source, default: 0] {
        count -= 1  // checked: it is positive
        await permits?.release()
      }
      run.permits[source] = count
    }
  }

  /// Starts connections while there may be more and something is left for them.
  private func fill(_ run: inout Run, _ group: inout TaskGroup<Event>) async {
    await addConnections(&run, &group)
    // A permit that turned out to be of no use is not kept from others.
    await releasePermits(&run, keeping: run.workers)
  }

  private func addConnections(_ run: inout Run, _ group: inout TaskGroup<Event>) async {
    guard !Task.isCancelled, !board.isCancelled else { return }
    var excluded = run.probing
    if run.hasGivenUp { excluded.insert(lead) }
    while run.connections < run.growth.allowed || !run.isLeadRunning && run.working == 0 {
      guard !board.isComplete, let source = sources.next(excluding: excluded, lead: lead) else { return }
      // The lead keeps its rest until its server has sent a range. Unless the server announces ranges, one connection finds
      // that out for all.
      let isTested = source == lead ? board.confirmation.hasHappened : run.usable.contains(source)
      // Another source is asked as soon as its bytes can be compared; its place is kept until then.
      if source != lead, !isTested, !run.mayProbe { return }
      let isFirst = run.workers[source, default: 0] == 0
      let mayStart = source != lead || isTested || board.announcesRanges || isFirst
      guard mayStart, await mayAdd(source, &run) else {
        excluded.insert(source)
        continue
      }
      if !run.isPrepared {
        await prepare(&run)
        guard run.isPrepared else { return }
      }
      guard await start(source, isTested: isTested, &run, &group) else {
        excluded.insert(source)
        continue
      }
    }
  }

  /// - Returns: false if nothing is left that would be worth a connection with this source.
  private func start(
    _ source: Int, isTested: Bool, _ run: inout Run, _ group: inout TaskGroup<Event>
  ) async -> Bool {
    if source != lead, !isTested {
      run.probing.insert(source)
      begin(source, &run)
      group.addTask { .probed(source, await probe(source)) }
      return false
    }
    let known = sources.count > 1 ? sources.rate(source) : nil
    // Sources that are being asked will take their parts soon.
    let running = run.connections - run.probing.count  // checked: numbers of connections
    let sharers = max(1, run.growth.allowed - running)  // checked: numbers of connections
    guard let segment = board.take(for: source, known: known, servesRanges: isTested, sharers: sharers) else {
      return false
    }
    begin(source, &run)
    group.addTask { .ended(segment.id, source: source, await fetch(segment, source)) }
    return true
  }

  private func begin(_ source: Int, _ run: inout Run) {
    run.workers[source, default: 0] += 1
    sources.connect(source)
  }

  private func prepare(_ run: inout Run) async {
    do throws(TransferError) {
      try await prepare()
      run.isPrepared = true
    } catch {
      run.hasGivenUp = true
      if !error.isCancellation { board.fail(error) }
    }
  }

  private func addTick(_ group: inout TaskGroup<Event>) {
    group.addTask { [interval = segmentation.interval] in
      try? await Task.pause(for: interval)
      return .tick
    }
  }

  /// Checks one piece at a time: a disk is not made faster by several.
  private func addCheck(_ group: inout TaskGroup<Event>) {
    group.addTask {
      for await piece in board.completePieces { return .checked(piece, isGood: await check(piece)) }
      return .checksEnded
    }
  }
}

extension DownloadSources.Drop {
  /// A source has sent a piece with another digest.
  static func wrongPiece(_ piece: Int, _ digests: PieceDigests?) -> Self {
    let name = digests?.algorithm.rawValue ?? "digest"
    let expected = digests.map { $0.hex(piece) } ?? ""
    return Self(
      reason: "it sent wrong bytes: piece \(piece) has another \(name)",
      error: .verification(.digest(algorithm: name, expected: expected, actual: "the digest of wrong bytes")))
  }
}
