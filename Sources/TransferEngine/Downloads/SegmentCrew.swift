import Threads
import WireValues

/// How one connection of a segment has ended.
enum SegmentOutcome: Sendable {
  /// Its bytes are there, or another connection has taken the rest of them.
  case ended
  /// The server does not serve ranges of this version: only the first connection goes on.
  case refused(reason: String)
  /// The server has enough connections, or asks to wait.
  case overloaded
  /// The connection broke.
  /// - Parameter received: bytes that it brought.
  case broken(received: Int64)
  /// The disk refused the bytes.
  case failed(TransferError)
}

/// Runs the connections of one download beside its first one: as many as `SegmentGrowth` allows, each with a segment from the
/// board. It ends when the file is complete, or when nothing more can be expected of further connections.
struct SegmentCrew: Sendable {
  let board: SegmentBoard
  let segmentation: Segmentation
  /// Makes the part file and its record ready for bytes at any place. Durable before it returns.
  let prepare: @Sendable () async throws(TransferError) -> Void
  /// Fetches one segment.
  let fetch: @Sendable (SegmentPlan.Segment) async -> SegmentOutcome
  /// Called when further connections are given up.
  let didGiveUp: @Sendable (_ reason: String) -> Void

  private enum Event: Sendable {
    case leadEnded
    /// The server serves ranges.
    case confirmed
    case tick
    case ended(Int, SegmentOutcome)
  }

  /// After this many broken connections without anything received, no further one is tried.
  private static let maximumFailures = 5

  /// The state of one run.
  private struct Run {
    var growth: SegmentGrowth
    var isPrepared = false
    var workers = 0
    var permits = 0
    var failures = 0
    var hasGivenUp = false
    var isLeadRunning = true
    var measured: (at: ContinuousClock.Instant, bytes: Int64)
    var connections: Int { workers + (isLeadRunning ? 1 : 0) }
  }

  func run() async {
    var run = Run(growth: SegmentGrowth(segmentation.policy), measured: (.now, board.completed.count))
    await withTaskGroup(of: Event.self) { group in
      group.addTask {
        await board.leadEnd.wait()
        return .leadEnded
      }
      group.addTask {
        await board.confirmation.wait()
        return .confirmed
      }
      if segmentation.policy.maximum > 1 { addTick(&group) }
      if board.isSegmented { await prepare(&run) }
      await fill(&run, &group)
      while !isOver(run), let event = await group.next() {
        await handle(event, &run, &group)
      }
      // The lead may still run; its end is awaited by the download itself.
      group.cancelAll()
      await releasePermits(&run, keeping: 0)
    }
  }

  private func isOver(_ run: Run) -> Bool {
    guard run.workers == 0 else { return false }
    if board.isComplete || board.isCancelled { return true }
    return run.hasGivenUp || !run.isLeadRunning
  }

  private func handle(_ event: Event, _ run: inout Run, _ group: inout TaskGroup<Event>) async {
    switch event {
    case .leadEnded:
      run.isLeadRunning = false
      // Without another connection the crew ends, and the download requests the rest or fails.
      if run.workers > 0 { await fill(&run, &group) }
    case .confirmed:
      await fill(&run, &group)
    case .tick:
      guard !Task.isCancelled else { return }
      measure(&run)
      await fill(&run, &group)
      await releasePermits(&run, keeping: run.workers)
      if !board.isComplete { addTick(&group) }
    case .ended(let id, let outcome):
      board.end(id)
      run.workers -= 1
      note(outcome, &run)
      // A connection that broke is replaced at the next measurement, not at once.
      if case .broken = outcome, run.isLeadRunning || run.workers > 0 { return }
      await fill(&run, &group)
    }
    if board.isComplete { board.cancelRest() }
  }

  private func note(_ outcome: SegmentOutcome, _ run: inout Run) {
    switch outcome {
    case .ended: run.failures = 0
    case .overloaded:
      run.growth.refused(connections: run.connections)
      // No connection is left: the attempt ends, and the next one waits as long as the server asks for.
      if run.connections == 0 { giveUp("the server takes no connection now", &run) }
    case .refused(let reason): giveUp(reason, &run)
    case .broken(let received):
      run.failures = received > SegmentPlan.minimumRest ? 0 : run.failures + 1  // checked: at most the maximum
      if run.failures >= Self.maximumFailures { giveUp("further connections break", &run) }
    case .failed(let error): board.fail(error)
    }
  }

  private func giveUp(_ reason: String, _ run: inout Run) {
    guard !run.hasGivenUp else { return }
    run.hasGivenUp = true
    didGiveUp(reason)
  }

  private func measure(_ run: inout Run) {
    let (now, bytes) = (ContinuousClock.now, board.completed.count)
    let seconds = run.measured.at.duration(to: now) / .seconds(1)
    let rate = Double(bytes - run.measured.bytes) / max(seconds, 0.001)  // checked: counts of bytes on disk
    run.measured = (now, bytes)
    let before = run.growth.allowed
    // checked: a part of the total
    run.growth.measured(rate: rate, rest: board.total - bytes, connections: run.connections)
    if run.growth.allowed < before, run.workers > 0 { board.dismissNewest() }
  }

  /// Whether one more connection may run beside those that do.
  private func mayAdd(_ run: inout Run) async -> Bool {
    guard case .automatic = segmentation.policy, let permits = segmentation.permits, run.permits <= run.workers else {
      return true
    }
    guard await permits.acquire() else { return false }
    run.permits += 1
    return true
  }

  /// Gives back the permits of connections that do not run any more.
  private func releasePermits(_ run: inout Run, keeping count: Int) async {
    while run.permits > count {
      run.permits -= 1
      await segmentation.permits?.release()
    }
  }

  /// Starts connections while there may be more and something is left for them.
  private func fill(_ run: inout Run, _ group: inout TaskGroup<Event>) async {
    guard !run.hasGivenUp, !Task.isCancelled, !board.isCancelled else { return }
    while run.connections < run.growth.allowed || !run.isLeadRunning && run.workers == 0 {
      // One connection finds out whether the server serves ranges. The lead keeps its rest until then.
      guard run.workers == 0 || board.confirmation.hasHappened, await mayAdd(&run) else { return }
      if !run.isPrepared {
        guard !board.isComplete else { return }
        await prepare(&run)
        guard run.isPrepared else { return }
      }
      guard let segment = board.take() else { return }
      run.workers += 1
      group.addTask { .ended(segment.id, await fetch(segment)) }
    }
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
}
