import FoundationEssentials
import Logging
import Store
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
  }

  /// An attempt under way.
  struct Active {
    var record: JobRecord
    var request: DownloadRequest?
    var stop: StopReason?
    /// Its bytes have arrived and are being verified and named: it holds no network slot.
    var isFinishing = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  let store: Store
  let board = ProgressBoard()
  let logger: Logger
  private let runner: JobRunner
  private(set) var limits: Limits
  private(set) var governor: OriginGovernor

  var active: [JobID: Active] = [:]
  private var load = Admission.Load()
  private var window: [Candidate] = []
  /// Something may be waiting that the window does not show.
  private var isWindowStale = true
  /// The origins beside which nothing is waiting, as last seen.
  private var barren: Set<String>?
  private var isFilling = false
  private var mustFillAgain = false
  private var fillWaiters: [CheckedContinuation<Void, Never>] = []
  private(set) var isStopping = false
  private var alarm: Task<Void, Never>?
  private var alarmTime: Date?
  private var sampler: Task<Void, Never>?

  /// Candidates kept in memory: the active window. A longer queue costs nothing.
  static let windowSize = 512
  /// Attempts that may be verifying and naming files at once, beside the transfers.
  static let maximumFinishing = 256

  init(store: Store, session: Session, limits: Limits, governor: OriginGovernor, logger: Logger) {
    self.store = store
    self.limits = limits
    self.governor = governor
    self.logger = logger
    runner = JobRunner(session: session, store: store)
  }

  func setLimits(_ limits: Limits) async {
    self.limits = limits
    await fill()
  }

  // MARK: Starting jobs

  /// Something changed that may let a job begin.
  func wake() async {
    isWindowStale = true
    await fill()
  }

  /// Gives free slots to waiting jobs. Calls that come meanwhile become one more round.
  private func fill() async {
    guard !isStopping else { return }
    guard !isFilling else {
      mustFillAgain = true
      return
    }
    isFilling = true
    defer {
      isFilling = false
      for waiter in fillWaiters { waiter.resume() }
      fillWaiters = []
    }
    repeat {
      mustFillAgain = false
      do {
        while try await fillOnce() {}
      } catch {
        logger.error("cannot start jobs", metadata: ["error": "\(error)"])
        setAlarm(Date().addingTimeInterval(5))
      }
    } while mustFillAgain && !isStopping
  }

  /// - Returns: whether another round may find more.
  private func fillOnce() async throws -> Bool {
    let now = Date()
    guard load.total < limits.admission.maxActive, active.count - load.total < Self.maximumFinishing else {
      return false
    }
    let capacity = { [governor] name in governor.capacity(of: name, now: now) }
    // What is new may come before what the window holds.
    var picked = isWindowStale ? [] : limits.admission.pick(from: &window, load: load, capacity: capacity)
    if picked.isEmpty {
      let excluded = limits.admission.saturated(load, capacity: capacity).union(governor.blocked(now: now))
      guard isWindowStale || barren != excluded else { return false }
      if isWindowStale { window = [] }
      isWindowStale = false
      let found = try await store.candidates(now: now, excludingOrigins: excluded, limit: Self.windowSize)
      barren = found.isEmpty ? excluded : nil
      window = (window + found).sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
      try await planAlarm()
      picked = limits.admission.pick(from: &window, load: load, capacity: capacity)
    }
    // A job whose last attempt is still being told to the store may be waiting again already: it begins when that is
    // done, for one job has one attempt.
    if picked.contains(where: { active[$0] != nil }) {
      isWindowStale = true
      picked.removeAll { active[$0] != nil }
    }
    guard !picked.isEmpty, !isStopping else { return false }
    for record in try await store.claim(picked, at: Date()) { start(record) }
    return true
  }

  private func start(_ record: JobRecord) {
    let id = record.job.id
    var entry = Active(record: record)
    load.add(record.spec.origin)
    do throws(TransferError) {
      let request = try runner.request(for: record, timeouts: limits.timeouts) { [weak self] in
        await self?.didFinishTransfer(id, fence: record.fence)
      }
      entry.request = request
      active[id] = entry
      board.add(id, request, bytesDone: record.job.bytesDone)
      startSampling()
      if isStopping { stop(id, .shutdown) }
      Task { await self.run(record, request) }
    } catch {
      active[id] = entry
      let response = FileResponse(failing: error)
      Task { await self.end(record, response) }
    }
  }

  private func run(_ record: JobRecord, _ request: DownloadRequest) async {
    let response = await request.response()
    await end(record, response)
  }

  /// The network slot is free; the job still has to get its name.
  private func didFinishTransfer(_ id: JobID, fence: Int64) async {
    guard var entry = active[id], entry.record.fence == fence, !entry.isFinishing else { return }
    entry.isFinishing = true
    active[id] = entry
    load.remove(entry.record.spec.origin)
    governor.answered(entry.record.spec.origin, now: Date())
    // Not awaited: the file's name should not wait for other jobs to begin.
    Task { await self.fill() }
  }

  // MARK: Ending attempts

  private func end(_ record: JobRecord, _ response: FileResponse) async {
    let id = record.job.id
    var generator = SystemRandomNumberGenerator()
    let now = Date()
    var verdict = AttemptVerdict(response, of: record, stop: active[id]?.stop, now: now, using: &generator)
    await note(response, record, now: now, &verdict)
    if verdict.removesPartFile { JobRunner.removePartFile(of: record) }
    await settle(verdict.settlement)
    log(verdict.settlement, record)
    board.remove(id)
    if let entry = active.removeValue(forKey: id) {
      if !entry.isFinishing { load.remove(record.spec.origin) }
      for waiter in entry.waiters { waiter.resume() }
    }
    if verdict.settlement.event == .postpone { setAlarm(verdict.settlement.retryAt ?? now) }
    await fill()
  }

  /// Keeps the books of the origin, and lets its wish decide when the job is tried again.
  private func note(
    _ response: FileResponse, _ record: JobRecord, now: Date, _ verdict: inout AttemptVerdict
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
      governor.failed(origin, now: now)
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

  /// Tells the store until it listens: a full disk passes, and until then the job counts as running, which recovery
  /// would set right.
  private func settle(_ settlement: Settlement) async {
    var wait = Duration.milliseconds(100)
    while true {
      do {
        if try await !store.settle(settlement, at: Date()) {
          logger.warning("an attempt ended that is not the job's any more", metadata: ["job": "\(settlement.id)"])
        }
        return
      } catch StoreError.closed {
        return
      } catch {
        logger.error(
          "cannot store how an attempt ended; trying again",
          metadata: ["job": "\(settlement.id)", "error": "\(error)"])
        if isStopping { return }
        try? await Task.sleep(for: wait)
        wait = min(wait * 2, .seconds(10))
      }
    }
  }

  private func log(_ settlement: Settlement, _ record: JobRecord) {
    var metadata: Logger.Metadata = ["job": "\(settlement.id)", "bytes": "\(settlement.bytesDone)"]
    if let failure = settlement.failure {
      metadata["code"] = "\(failure.code)"
      metadata["reason"] = "\(failure.message)"
    }
    switch settlement.event {
    case .complete: logger.info("job completed", metadata: metadata)
    case .fail: logger.warning("job failed", metadata: metadata)
    case .postpone:
      metadata["delay"] = "\(Int(settlement.retryDelay.seconds * 1000)) ms"
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
    if isFilling { await withCheckedContinuation { fillWaiters.append($0) } }
    while let id = active.keys.first {
      for id in active.keys { stop(id, .shutdown) }
      await waitUntilIdle(id)
    }
  }

  // MARK: Time

  private func planAlarm() async throws {
    let now = Date()
    let times = [try await store.nextRetry(now: now), governor.nextOpening(after: now)].compactMap { $0 }
    if let next = times.min() { setAlarm(next) }
  }

  /// Looks for due jobs at that time, or earlier if an earlier alarm is set already.
  private func setAlarm(_ time: Date) {
    guard !isStopping else { return }
    if let set = alarmTime, set <= time { return }
    alarm?.cancel()
    alarmTime = time
    // The monotonic clock, suspended time included: a wall clock that jumps neither hurries nor holds it.
    let delay = max(0, time.timeIntervalSinceNow)
    alarm = Task {
      do {
        try await Task.sleep(for: .seconds(delay), tolerance: .milliseconds(10), clock: .continuous)
      } catch { return }
      self.alarmTime = nil
      await self.wake()
    }
  }

  /// Measures while jobs run; an idle daemon does not wake up.
  private func startSampling() {
    guard sampler == nil, !isStopping else { return }
    let board = board
    sampler = Task {
      while !Task.isCancelled, !board.isEmpty {
        board.sample()
        try? await Task.sleep(for: .milliseconds(500))
      }
      self.sampler = nil
      if !board.isEmpty { self.startSampling() }
    }
  }
}
