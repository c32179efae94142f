import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Performs what ``JobQueue`` decides: it searches the store, stores the ends of attempts, claims jobs and starts them. No
/// other part of the daemon changes the state of a job.
actor Scheduler {
  /// The settings that a reload (SIGHUP) changes.
  struct Limits: Equatable, Sendable {
    var queue = JobQueue.Limits()
    var timeouts = JobRunner.Timeouts()
    var maxAttempts = 20
    var hooks = HookConfiguration()
    /// Body bytes a day, received and sent; `nil`: no limit.
    var quota: Int64?
  }

  /// An attempt under way. A class, because a record is large, and reading one of its fields would copy all of it.
  final class Active {
    let record: JobRecord
    /// `nil` until it starts.
    var request: AttemptRequest?
    /// How it ended; `nil` until then.
    var response: AttemptResponse?
    /// The job has a limit of its own.
    var isLimited = false
    /// They wait until the end of the attempt is stored, or cannot be stored.
    var waiters: [CheckedContinuation<Result<JobState?, StoreError>, Never>] = []

    init(record: JobRecord) { self.record = record }
  }

  let store: Store
  let tracker = ProgressTracker()
  let logger: Logger
  let runner: JobRunner
  let followUpRunner: FollowUpRunner
  /// Attempts since the start of the daemon that did not check their server's certificate.
  private(set) var insecureAttempts = 0
  /// Uploads that block later uploads to the same URL.
  var blockingUploads: Set<JobID> = []
  private(set) var limits: Limits
  /// The batches with limits of their own.
  var batchLimits: [BatchID: BatchLimits] = [:]
  var queue: JobQueue
  var active: [JobID: Active] = [:]
  /// How many of their jobs origins may transfer at once, as the engine does not know it yet.
  private var unsentLimits: [String: Int?] = [:]
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []
  var alarm: Task<Void, Never>?
  var alarmTime: ContinuousClock.Instant?
  var sampler: Task<Void, Never>?
  var timeCheck = TimeCheck()
  var dependencyCheck = DependencyCheck()
  /// The time of day by the machine's time zone.
  let localTime: @Sendable (Date) -> RateTimetable.LocalTime
  var quota = QuotaMeter(day: LocalDay(containing: Date()))

  init(
    store: Store, limits: Limits, governor: OriginGovernor, logger: Logger, runner: JobRunner,
    followUpRunner: FollowUpRunner,
    localTime: @escaping @Sendable (Date) -> RateTimetable.LocalTime = { RateTimetable.LocalTime.system($0) }
  ) {
    self.store = store
    self.limits = limits
    self.logger = logger
    self.runner = runner
    self.followUpRunner = followUpRunner
    self.localTime = localTime
    queue = JobQueue(limits: limits.queue, governor: governor)
  }

  var isStopping: Bool { queue.isStopping }

  func setLimits(_ limits: Limits) {
    self.limits = limits
    self.limits.queue.admission.batches = batchLimits.compactMapValues(\.maxActive)
    send(.limitsChanged(self.limits.queue))
    countQuota()
  }

  /// Call this after a change that may allow a job to start.
  func wake() { send(.jobsChanged) }

  // MARK: Events and actions

  /// Reports an event to the queue and starts the actions that it decides. Never waits.
  func send(_ event: JobQueueEvent) {
    for action in queue.handle(event, now: Date()) { perform(action) }
    guard queue.isIdle else { return }
    for waiter in idleWaiters { waiter.resume() }
    idleWaiters = []
  }

  private func perform(_ action: JobQueueAction) {
    switch action {
    case .search(let search): Task { send(await found(search)) }
    case .searchToRunAlone(let origins): Task { send(await foundToRunAlone(origins)) }
    case .turn(let ended, let picked): Task { await turn(ended, picked) }
    case .start(let ids): start(ids)
    case .cancel(let ids): for id in ids { active[id]?.request?.cancel() }
    case .wakeAt(let time): setAlarm(time)
    case .limitConnections(let origin, let maximum):
      let isSending = !unsentLimits.isEmpty
      unsentLimits.updateValue(maximum, forKey: origin)
      if !isSending { Task { await sendLimits() } }
    case .limitIsolation(let attempt, let limit): limitIsolation(attempt, limit)
    }
  }

  /// Reads candidates, and when the next job can start without any other event.
  private func found(_ search: JobQueueAction.Search) async -> JobQueueEvent {
    do {
      let now = Date()
      let page = try await store.candidatePage(
        now: now, excludingOrigins: search.excludedOrigins, excludingBatches: search.excludedBatches,
        from: search.cursor, limit: search.limit)
      let times = try await store.waitingTimes(
        now: now, excludingOrigins: search.excludedOrigins, closedOrigins: Set(search.reopenTimes.keys))
      return .found(
        page.candidates, search, wakeTime: WakeTime.time(times, reopenTimes: search.reopenTimes, now: now),
        cursor: page.cursor)
    } catch {
      logger.error("cannot start jobs", metadata: ["error": "\(error)"])
      return .searchFailed
    }
  }

  private func foundToRunAlone(_ excludedOrigins: Set<String>) async -> JobQueueEvent {
    do {
      let candidates = try await store.candidatesToRunAlone(now: Date(), excludingOrigins: excludedOrigins, limit: 1)
      let mayNeedIsolation = candidates.isEmpty ? try await store.hasJobsToRunAlone() : true
      return .foundToRunAlone(candidates, mayNeedIsolation: mayNeedIsolation)
    } catch {
      logger.error("cannot start jobs", metadata: ["error": "\(error)"])
      return .searchFailed
    }
  }

  // MARK: Starting attempts

  private func start(_ ids: [JobID]) {
    let reports = AttemptReports(
      // The attempt does not await this call, because renaming the file should not wait for the start of other jobs.
      transferred: { [weak self] transfers in Task { await self?.send(.transferred(transfers)) } },
      foundLarge: { [weak self] id, fence in await self?.send(.foundLarge(id, fence: fence)) },
      ended: { [weak self] responses in await self?.didEnd(responses) },
      added: { [weak self] submissions, haveTimes in await self?.didAdd(submissions, haveTimes: haveTimes) },
      foundResumable: { [weak self] id, fence in await self?.send(.foundResumable(id, fence: fence)) },
      acquireConnection: { [weak self] in await self?.acquireConnection(with: $0) ?? false },
      releaseConnection: { [weak self] in await self?.releaseConnection(with: $0) })
    let started = runner.start(ids.compactMap { active[$0]?.record }, timeouts: limits.timeouts, reports)
    insecureAttempts += started.count { $0.0.spec.options.network.insecure }  // checked: counts attempts
    recordLanes(started)
    for (record, request) in started {
      active[record.job.id]?.request = request
      if record.spec.options.limitRate != nil { active[record.job.id]?.isLimited = true }
      tracker.add(record.job.id, of: record.spec.owner, request, bytesDone: record.job.bytesDone)
    }
    startSampling()
  }

  /// One after the other: of two limits of an origin the later one stays.
  private func sendLimits() async {
    while let (origin, maximum) = unsentLimits.first {
      await runner.limitConnections(maximum, origin: origin)
      // It may have changed meanwhile.
      if unsentLimits[origin] == .some(maximum) { unsentLimits[origin] = nil }
    }
  }

  /// Transfers of the same origin and lane are usually many.
  private func recordLanes(_ started: [(JobRecord, AttemptRequest)]) {
    var last: (origin: String, lane: TransferLane)?
    for (record, request) in started {
      let current = (origin: record.spec.origin, lane: request.lane)
      if let last, last == current { continue }
      queue.recordStart(of: current.origin, in: current.lane)
      last = current
    }
  }

  private func didEnd(_ responses: [(JobID, AttemptResponse)]) {
    var uploads: [FinishedTransfer] = []
    for (id, response) in responses {
      guard let record = active[id]?.record else { continue }
      active[id]?.response = response
      if case .upload(let upload) = response, upload.error == nil {
        uploads.append(
          .init(
            job: id, fence: record.fence,
            isLarge: max(upload.bytesSent, record.job.bytesTotal ?? 0) > FinishedTransfer.smallFile))
      }
    }
    send(.ended(responses.map(\.0), uploads: uploads))
  }

  // MARK: Stopping attempts

  /// Stops an attempt with a checkpoint; nothing happens if the job has none.
  func stop(_ ids: [JobID], _ reason: StopReason) { send(.stop(ids, reason)) }

  /// Waits until the job has no running attempt.
  /// - Returns: the state in which the attempt's settlement left the job; `nil`: the job had no attempt.
  /// - Throws: if the end of the attempt cannot be stored now. It is stored when that is possible again.
  func waitUntilIdle(_ id: JobID) async throws(StoreError) -> JobState? {
    let end: Result<JobState?, StoreError> = await withCheckedContinuation { continuation in
      if active[id] == nil {
        continuation.resume(returning: .success(nil))
      } else {
        active[id]?.waiters.append(continuation)
      }
    }
    return try end.get()
  }

  /// Stops every attempt with a checkpoint, and waits until their ends are stored. No job starts afterwards.
  func shutdown() async {
    alarm?.cancel()
    sampler?.cancel()
    send(.shutdown)
    await withCheckedContinuation { continuation in
      if queue.isIdle { continuation.resume() } else { idleWaiters.append(continuation) }
    }
    if limits.quota != nil {
      countQuota()
      await storeQuota(quota.day.name, quota.used)
    }
  }
}
