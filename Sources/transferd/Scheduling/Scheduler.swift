import CLinux
import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// The one authority over jobs: decides which of them begin and when, and is the only one to change a job's state.
///
/// It mutates its own values between suspensions only, and tells the store before anybody else hears of a change.
actor Scheduler {
  /// What may be changed while it runs (SIGHUP).
  struct Limits: Equatable, Sendable {
    var admission = Admission(maxActive: 16, maxPerOrigin: 8)
    var timeouts = JobRunner.Timeouts()
    var maxAttempts = 20
    var hooks = HookConfiguration()
    /// Attempts that may be verifying and naming files at once, beside the transfers.
    var maximumFinishing = 256
  }

  /// An attempt under way.
  struct Active {
    var record: JobRecord
    var request: AttemptRequest?
    var stop: StopReason?
    /// Its bytes have arrived and are being verified and named: it holds no network slot.
    var isFinishing = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// An attempt that is over.
  private struct Ended {
    var record: JobRecord
    var response: AttemptResponse
  }

  let store: Store
  let board = ProgressBoard()
  let logger: Logger
  let runner: JobRunner
  let aftermath: AftermathRunner
  /// Uploads that others to the same URL wait for.
  var followed: Set<JobID> = []
  private(set) var limits: Limits
  var governor: OriginGovernor

  var active: [JobID: Active] = [:]
  private var load = Admission.Load()
  private var window = CandidateWindow()
  /// Something may be waiting that the window does not show.
  var isWindowStale = true
  /// The origins beside which nothing is waiting, as last seen.
  private var barren: Set<String>?
  /// There may be jobs that must run alone.
  var mayRunAlone = false
  /// The one that does.
  var alone: Alone?
  /// Attempts that are over and not yet settled.
  private var ended: [Ended] = []
  private var isTurning = false
  private var mustTurnAgain = false
  private var turnWaiters: [CheckedContinuation<Void, Never>] = []
  private(set) var isStopping = false
  var alarm: Task<Void, Never>?
  var alarmTime: ContinuousClock.Instant?
  var sampler: Task<Void, Never>?

  /// Candidates kept in memory: the active window. A longer queue costs nothing.
  static let windowSize = 512

  init(
    store: Store, limits: Limits, governor: OriginGovernor, logger: Logger, runner: JobRunner,
    aftermath: AftermathRunner
  ) {
    self.store = store
    self.limits = limits
    self.governor = governor
    self.logger = logger
    self.runner = runner
    self.aftermath = aftermath
  }

  func setLimits(_ limits: Limits) async {
    self.limits = limits
    await turn()
  }

  // MARK: Turns

  /// Something changed that may let a job begin.
  func wake() async {
    isWindowStale = true
    await turn()
  }

  /// Settles what has ended and gives free slots to waiting jobs, in one transaction for all. Calls that come meanwhile
  /// become one more round.
  private func turn() async {
    guard !isTurning else {
      mustTurnAgain = true
      return
    }
    isTurning = true
    defer {
      isTurning = false
      for waiter in turnWaiters { waiter.resume() }
      turnWaiters = []
    }
    repeat {
      mustTurnAgain = false
      do {
        while try await turnOnce() {}
      } catch {
        logger.error("cannot start jobs", metadata: ["error": "\(error)"])
        setAlarm(Date().addingTimeInterval(5))
      }
    } while mustTurnAgain
  }

  /// - Returns: whether another round may find more.
  private func turnOnce() async throws -> Bool {
    let over = ended
    ended = []
    var settlements: [Settlement] = []
    for ended in over {
      settlements.append(await settlement(of: ended))
      if active[ended.record.job.id]?.isFinishing == false { load.remove(ended.record.spec.origin) }
    }
    var picked: [JobID] = []
    do {
      picked = try await pick()
    } catch {
      // What has ended is settled all the same.
      if over.isEmpty { throw error }
      logger.error("cannot start jobs", metadata: ["error": "\(error)"])
      setAlarm(Date().addingTimeInterval(5))
    }
    guard !picked.isEmpty || !over.isEmpty else { return false }
    let claimed = try await settle(settlements, claiming: picked)
    for (ended, settlement) in zip(over, settlements) { forget(ended.record, settlement) }
    for record in claimed { start(record) }
    return true
  }

  /// The waiting jobs that begin now.
  private func pick() async throws -> [JobID] {
    guard alone == nil else { return [] }
    let picked = try await pickTogether()
    return picked.isEmpty ? try await pickAlone() : picked
  }

  /// The waiting jobs that the free slots are for.
  private func pickTogether() async throws -> [JobID] {
    let now = Date()
    // checked: counts jobs that run
    guard !isStopping, load.total < limits.admission.maxActive, active.count - load.total < limits.maximumFinishing
    else { return [] }
    governor.noticeClock(now)
    let capacity = { [governor] name in governor.capacity(of: name, now: now) }
    let probes = governor.lastProbes(now: now)
    // What is new may come before what the window holds.
    var picked =
      isWindowStale
      ? []
      : limits.admission.pick(
        from: &window, load: load, capacity: capacity, lastProbes: probes)
    if picked.isEmpty {
      let openings = governor.openings(after: now)
      let excluded = limits.admission.saturated(load, capacity: capacity).union(openings.keys)
      guard isWindowStale || barren != excluded else { return [] }
      if isWindowStale { window = CandidateWindow() }
      isWindowStale = false
      let found = try await store.candidates(now: now, excludingOrigins: excluded, limit: Self.windowSize)
      barren = found.isEmpty ? excluded : nil
      window.add(found)
      try await planAlarm(now: now, excludingOrigins: excluded, openings: openings)
      picked = limits.admission.pick(
        from: &window, load: load, capacity: capacity, lastProbes: probes)
    }
    // A job whose last attempt is still being told to the store may be waiting again already: it begins when that is
    // done, for one job has one attempt.
    if picked.contains(where: { active[$0] != nil }) {
      isWindowStale = true
      picked.removeAll { active[$0] != nil }
    }
    return isStopping ? [] : picked
  }

  private func start(_ record: JobRecord) {
    let id = record.job.id
    var entry = Active(record: record)
    load.add(record.spec.origin)
    if record.runsAlone { beginAlone(record) }
    do throws(TransferError) {
      let request = try runner.request(for: record, timeouts: limits.timeouts) { [weak self] in
        await self?.didFinishTransfer(id, fence: record.fence)
      }
      entry.request = request
      active[id] = entry
      board.add(id, of: record.spec.owner, request, bytesDone: record.job.bytesDone)
      startSampling()
      if isStopping { stop(id, .shutdown) }
      Task { await self.run(record, request) }
    } catch {
      active[id] = entry
      ended.append(Ended(record: record, response: AttemptResponse(failing: error, of: record.job.kind)))
      mustTurnAgain = true
    }
  }

  private func run(_ record: JobRecord, _ request: AttemptRequest) async {
    ended.append(Ended(record: record, response: await request.response()))
    await turn()
  }

  /// The network slot is free; the job still has to get its name.
  private func didFinishTransfer(_ id: JobID, fence: Int64) async {
    guard var entry = active[id], entry.record.fence == fence, !entry.isFinishing else { return }
    entry.isFinishing = true
    active[id] = entry
    load.remove(entry.record.spec.origin)
    governor.answered(entry.record.spec.origin, now: Date())
    // Not awaited: the file's name should not wait for other jobs to begin.
    Task { await self.turn() }
  }

  // MARK: Ending attempts

  private func settlement(of ended: Ended) async -> Settlement {
    let (record, response) = (ended.record, ended.response)
    var generator = SystemRandomNumberGenerator()
    let now = Date()
    var verdict = AttemptVerdict(response, of: record, stop: active[record.job.id]?.stop, now: now, using: &generator)
    await note(response, record, now: now, &verdict)
    if verdict.removesPartFile { runner.removePartFile(of: record) }
    verdict.settlement.aftermath.wantsHook = limits.hooks.wantsHook(after: verdict.settlement.event)
    return verdict.settlement
  }

  /// The store knows how the attempt ended: the job is nobody's any more.
  private func forget(_ record: JobRecord, _ settlement: Settlement) {
    let id = record.job.id
    didSettle(settlement, record)
    log(settlement, record)
    board.remove(id)
    if alone?.job == id { alone = nil }
    for waiter in active.removeValue(forKey: id)?.waiters ?? [] { waiter.resume() }
    if settlement.event == .postpone {
      let now = Date()
      let opening = governor.opening(of: record.spec.origin, after: now)
      setAlarm(NextLook.time(ofRetryAt: settlement.retryAt ?? now, opening: opening))
    }
  }

  /// Keeps the books of the origin, and lets its wish decide when the job is tried again.
  private func note(
    _ response: AttemptResponse, _ record: JobRecord, now: Date, _ verdict: inout AttemptVerdict
  ) async {
    let origin = record.spec.origin
    if verdict.settlement.event == .postpone {
      verdict.settlement.retryAt = now.addingTimeInterval(verdict.settlement.retryDelay.seconds)
    }
    guard let error = response.error else {
      governor.answered(origin, now: now)
      return
    }
    if error.isConnectionFailure {
      governor.failed(origin, by: record.job.id, now: now)
    } else if response.head != nil {
      governor.answered(origin, now: now)
    }
    if let delay = error.retryAfter, delay > .zero, [429, 503].contains(error.status),
      response.respondingOrigin == origin
    {
      let state = governor.close(origin, for: min(delay, AttemptVerdict.policy.maximumRetryAfter), now: now)
      do {
        try await store.blockOrigin(origin, failures: state.failures, until: state.blockedUntil, at: now)
      } catch {
        logger.warning("cannot store that a server asked to wait", metadata: ["error": "\(error)"])
      }
      setAlarm(state.blockedUntil ?? now)
    }
  }

  /// Tells the store until it listens: a full disk passes, and until then the jobs count as running, which recovery
  /// would set right.
  /// - Returns: the jobs that were claimed; none where the store refused at first, for they wait in it.
  /// - Throws: the store's refusal where only claims were asked for: they are asked for again, but not at once.
  private func settle(_ settlements: [Settlement], claiming ids: [JobID]) async throws -> [JobRecord] {
    var wait = Duration.milliseconds(100)
    var ids = ids
    while true {
      do {
        let (settled, claimed) = try await store.settle(settlements, claiming: ids, at: Date())
        for (settlement, isSettled) in zip(settlements, settled) where !isSettled {
          logger.warning("an attempt ended that is not the job's any more", metadata: ["job": "\(settlement.id)"])
        }
        return claimed
      } catch StoreError.closed {
        return []
      } catch let refusal where settlements.isEmpty {
        isWindowStale = true
        throw refusal
      } catch {
        logger.error(
          "cannot store how attempts ended; trying again",
          metadata: ["jobs": "\((settlements.map(\.id) + ids).prefix(10))", "error": "\(error)"])
        isWindowStale = true
        ids = []
        if isStopping { return [] }
        try? await Task.pause(for: wait)
        wait = min(wait * 2, .seconds(10))
      }
    }
  }

  private func log(_ settlement: Settlement, _ record: JobRecord) {
    guard settlement.failure != nil || logger.logLevel <= .info else { return }
    var metadata: Logger.Metadata = ["job": "\(settlement.id)", "bytes": "\(settlement.bytesDone)"]
    if let failure = settlement.failure {
      metadata["code"] = "\(failure.code)"
      metadata["reason"] = "\(failure.message)"
    }
    switch settlement.event {
    case .complete: logger.info("job completed", metadata: metadata)
    case .fail: logger.warning("job failed", metadata: metadata)
    case .postpone:
      metadata["delay"] = "\(Int(settlement.retryDelay.seconds * 1000)) ms"  // checked: 366 days at most
      logger.info("job will be retried", metadata: metadata)
    case .pause: logger.info("job paused", metadata: metadata)
    case .cancel: logger.info("job cancelled", metadata: metadata)
    case .requeue: logger.info("job interrupted", metadata: metadata)
    case .claim, .resume, .retry: break
    }
  }

  // MARK: Stopping attempts

  func stop(_ id: JobID, _ reason: StopReason) {
    guard var entry = active[id] else { return }
    entry.stop = max(entry.stop ?? reason, reason)
    active[id] = entry
    entry.request?.cancel()
  }

  /// Returns when the job has no attempt under way.
  func waitUntilIdle(_ id: JobID) async {
    await withCheckedContinuation { continuation in
      if active[id] == nil {
        continuation.resume()
      } else {
        active[id]?.waiters.append(continuation)
      }
    }
  }

  /// Ends every attempt with a checkpoint. Nothing begins afterwards.
  func shutdown() async {
    isStopping = true
    alarm?.cancel()
    sampler?.cancel()
    // A claim that was under way may still start jobs, which end at once.
    if isTurning { await withCheckedContinuation { turnWaiters.append($0) } }
    while let id = active.keys.first {
      for id in active.keys { stop(id, .shutdown) }
      await waitUntilIdle(id)
    }
  }
}
