import FoundationEssentials
import Store
import TransferAPI

/// Decides which jobs run, and when. Pure: an event in, actions out; the clock is passed in.
///
/// It holds a window of the waiting jobs (candidates), the jobs that have an attempt, and the state of the origins. At
/// most one store operation is under way at a time: a search for candidates, or a *turn*, which ends attempts and
/// starts others in one transaction. The event that follows the operation allows the next one.
struct JobQueue: Sendable {
  /// The limits of the configuration.
  struct Limits: Equatable, Sendable {
    var admission = Admission(maxActive: 64, maxPerOrigin: .automatic)
    /// Maximum number of attempts that verify and rename their files, in addition to the transfers.
    var maximumFinishing = 256
  }

  /// The store operation that is under way.
  private enum Operation: Equatable {
    case search, isolatedSearch, turn
  }

  /// What cannot start a job now.
  private struct Exclusions: Equatable {
    let origins: Set<String>
    let batches: Set<BatchID>
  }

  /// Maximum number of candidates in memory. A longer queue needs no more memory.
  static let windowSize = 512
  /// Seconds until the next search for a job that must run in isolation and cannot run yet.
  static let isolationInterval: TimeInterval = 60
  /// Seconds until the next search after the store failed.
  static let failureDelay: TimeInterval = 5

  private(set) var limits: Limits
  var governor: OriginGovernor
  var widths = OriginWidths()
  private var pacing = OriginPacing()
  private(set) var attempts: [JobID: Attempt] = [:]
  private(set) var isolated: IsolatedAttempt?
  private(set) var isStopping = false
  /// The first `.jobsChanged` has come; before it no job starts.
  private(set) var isStarted = false
  var load = Admission.Load()
  /// Connections that downloads have beside their first ones.
  var furtherConnections = Admission.Load()
  /// The windows of unfinished jobs that are closed now. Their jobs are neither found by a search nor claimed.
  private(set) var closedWindows: ClosedWindows = [:]
  var preemption = Preemption()
  private(set) var window = CandidateWindow()
  /// Where the next search begins among the batches of one priority.
  private var cursor: String?
  /// The store may have candidates that are not in the window.
  private(set) var isWindowStale = true
  /// What the last search excluded, if it found no candidates.
  private var lastEmptyExclusions: Exclusions?
  /// There may be jobs that must run in isolation.
  private var mayNeedIsolation = false
  /// The store was searched for such a job, and nothing has changed since.
  private var hasSearchedToRunAlone = false
  /// No search before this time, because the store failed.
  private(set) var searchesAgainAt: Date?
  /// No job begins before this time, because the day's quota is used up.
  private(set) var quotaEnds: Date?
  private var operation: Operation?
  /// Attempts that ended and are not stored yet, in the order of their ends.
  private var ended: [JobID] = []

  init(limits: Limits, governor: OriginGovernor) {
    self.limits = limits
    self.governor = governor
  }

  /// No attempt is under way and no store operation.
  var isIdle: Bool { attempts.isEmpty && operation == nil }

  /// The number of concurrent transfers that an origin may have now: with `auto` the largest of all origins in use.
  var maxPerOriginInForce: Int {
    switch limits.admission.maxPerOrigin {
    case .automatic: widths.widest(of: load.perOrigin.keys)
    case .fixed(let limit): limit
    }
  }

  /// An origin has refused a request (429 or 503) or a connection.
  mutating func recordRefusal(by origin: String, now: Date) { widths.recordRefusal(by: origin, now: now) }

  /// A transfer with the origin begins.
  mutating func recordStart(of origin: String, in lane: TransferLane) { widths.recordStart(of: origin, in: lane) }

  /// Takes an event into account.
  /// - Returns: what the daemon has to do now, in this order.
  mutating func handle(_ event: JobQueueEvent, now: Date) -> [JobQueueAction] {
    var actions: [JobQueueAction] = []
    apply(event, now: now, &actions)
    limitConnections(&actions)
    actions += nextOperation(now: now)
    return actions
  }

  private mutating func apply(_ event: JobQueueEvent, now: Date, _ actions: inout [JobQueueAction]) {
    switch event {
    case .jobsChanged:
      isStarted = true
      isWindowStale = true
      hasSearchedToRunAlone = false
      // The daemon has only one alarm, for the earliest time, so a later time is requested again.
      if let time = searchesAgainAt, time > now { actions.append(.wakeAt(time)) }
      if let time = quotaEnds, time > now { actions.append(.wakeAt(time)) }
    case .isolationNeeded:
      mayNeedIsolation = true
    case .limitsChanged(let limits):
      self.limits = limits
      widths.markChanged(load.connections.keys)
      lastEmptyExclusions = nil
    case .quotaUsedUp(let time):
      quotaEnds = time
      isWindowStale = true
      if let time { actions.append(.wakeAt(time)) }
    case .found(let candidates, let search, let wakeTime, let cursor):
      operation = nil
      self.cursor = cursor
      lastEmptyExclusions =
        candidates.isEmpty ? Exclusions(origins: search.excludedOrigins, batches: search.excludedBatches) : nil
      window.add(candidates, running: sharesInUse)
      if let wakeTime { actions.append(.wakeAt(wakeTime)) }
    case .foundToRunAlone(let candidates, let mayNeedIsolation):
      operation = nil
      self.mayNeedIsolation = mayNeedIsolation
      // Jobs that were added during the search go first.
      guard !isWindowStale, !isStopping else {
        hasSearchedToRunAlone = false
        return
      }
      if let id = Admission.pickIsolated(from: candidates, running: attempts.count) {
        actions.append(turn(claiming: [id]))
      } else if mayNeedIsolation {
        // Such a job waits for a retry time or for its server; a search does not show when that wait ends.
        actions.append(.wakeAt(now.addingTimeInterval(Self.isolationInterval)))
      }
    case .searchFailed:
      operation = nil
      waitForStore(now, &actions)
    case .turned(let turn):
      operation = nil
      hasSearchedToRunAlone = false
      finish(turn, now: now, &actions)
    case .transferred(let transfers):
      for transfer in transfers { didTransfer(transfer, now: now) }
    case .foundLarge(let id, let fence):
      foundLarge(id, fence)
    case .foundResumable(let id, let fence):
      if attempts[id]?.fence == fence { attempts[id]?.isResumable = true }
    case .priorityChanged(let ids, let priority):
      for id in ids { attempts[id]?.priority = priority }
    case .windowsChanged(let closed):
      closedWindows = closed
    case .ended(let ids, let uploads):
      for upload in uploads { record(upload, now: now) }
      for id in ids { didEnd(id) }
    case .stop(let ids, let reason):
      stop(ids, reason, &actions)
    case .isolationLimitReached(let attempt):
      guard isolated == attempt else { return }
      isolated = nil
      isWindowStale = true
    case .shutdown:
      isStopping = true
      stop(Array(attempts.keys), .shutdown, &actions)
    }
  }

  // MARK: Attempts

  /// Starts the attempts that a turn claimed, and forgets those that it ended.
  private mutating func finish(_ turn: JobQueueEvent.Turn, now: Date, _ actions: inout [JobQueueAction]) {
    for end in turn.ended {
      // It waits again at once.
      if attempts[end.job]?.stop == .preemption { isWindowStale = true }
      attempts[end.job] = nil
      if isolated?.job == end.job { isolated = nil }
      guard let retryAt = end.retryAt else { continue }
      let reopenTime = governor.reopenTime(of: end.origin, after: now)
      actions.append(.wakeAt(WakeTime.time(ofRetryAt: retryAt, reopenTime: reopenTime)))
    }
    var started: [JobID] = []
    for claim in turn.claimed where attempts[claim.job] == nil {
      attempts[claim.job] = Attempt(
        origin: claim.origin, batch: claim.batch, owner: claim.owner, fence: claim.fence, priority: claim.priority,
        isLarge: claim.isLarge)
      attempts[claim.job]?.isResumable = claim.isResumable
      load.add(claim.origin, claim.batch)
      pacing.recordStart(of: claim.origin, limits.admission.origins, now: now)
      if claim.isLarge { widths.startLargeFile(of: claim.origin) }
      started.append(claim.job)
      guard let limit = claim.isolationLimit else { continue }
      let attempt = IsolatedAttempt(job: claim.job, fence: claim.fence)
      isolated = attempt
      actions.append(.limitIsolation(attempt, limit))
    }
    widths.prune { [load] in load.perOrigin[$0] != nil }
    if turn.hasFailed { waitForStore(now, &actions) }
    guard !started.isEmpty else { return }
    actions.append(.start(started))
    if isStopping { stop(started, .shutdown, &actions) }
    // The quota was used up while the store claimed them.
    if let quotaEnds, quotaEnds > now {
      stop(turn.claimed.filter { $0.isRevocable && started.contains($0.job) }.map(\.job), .quota, &actions)
    }
  }

  private mutating func didTransfer(_ transfer: FinishedTransfer, now: Date) {
    guard let attempt = attempts[transfer.job], attempt.fence == transfer.fence, attempt.phase == .transferring
    else { return }
    attempts[transfer.job]?.phase = .finishing
    record(transfer, now: now)
    freeSlot(of: attempt)
    governor.recordResponse(from: attempt.origin, now: now)
  }

  /// Counts a file that has arrived.
  private mutating func record(_ transfer: FinishedTransfer, now: Date) {
    guard let attempt = attempts[transfer.job], attempt.fence == transfer.fence else { return }
    widths.recordFile(of: attempt.origin, isLarge: transfer.isLarge, now: now)
  }

  private mutating func foundLarge(_ id: JobID, _ fence: Int64) {
    guard let attempt = attempts[id], attempt.fence == fence, attempt.phase == .transferring, !attempt.isLarge
    else { return }
    attempts[id]?.isLarge = true
    widths.startLargeFile(of: attempt.origin)
  }

  private mutating func freeSlot(of attempt: Attempt) {
    removeLoad(of: attempt)
    if attempt.isLarge { widths.endLargeFile(of: attempt.origin) }
  }

  private mutating func didEnd(_ id: JobID) {
    guard let attempt = attempts[id], attempt.phase == .transferring || attempt.phase == .finishing else { return }
    if attempt.phase == .transferring { freeSlot(of: attempt) }
    attempts[id]?.phase = .ended
    ended.append(id)
  }

  private mutating func stop(_ ids: [JobID], _ reason: StopReason, _ actions: inout [JobQueueAction]) {
    var stopped: [JobID] = []
    for id in ids {
      guard let attempt = attempts[id] else { continue }
      attempts[id]?.stop = max(attempt.stop ?? reason, reason)
      if attempt.phase == .transferring || attempt.phase == .finishing { stopped.append(id) }
    }
    if !stopped.isEmpty { actions.append(.cancel(stopped)) }
  }

  // MARK: The next store operation

  /// The next search or turn; nothing if there is nothing to do, or if an operation is under way.
  private mutating func nextOperation(now: Date) -> [JobQueueAction] {
    guard isStarted, operation == nil else { return [] }
    if let time = searchesAgainAt, time <= now { searchesAgainAt = nil }
    if let time = quotaEnds, time <= now { quotaEnds = nil }
    if load.total >= limits.admission.maxActive, ended.isEmpty {
      return preempt(now: now)
    }
    let picked: [JobID]
    switch pick(now: now) {
    case .search(let search):
      operation = .search
      return [.search(search)]
    case .jobs(let ids): picked = ids
    }
    if !picked.isEmpty || !ended.isEmpty { return [turn(claiming: picked)] }
    guard mayNeedIsolation, !hasSearchedToRunAlone, isolated == nil, attempts.isEmpty, !isStopping,
      searchesAgainAt == nil, quotaEnds == nil
    else { return [] }
    hasSearchedToRunAlone = true
    operation = .isolatedSearch
    return [.searchToRunAlone(excludedOrigins: Set(reopenTimes(after: now).keys))]
  }

  private mutating func turn(claiming ids: [JobID]) -> JobQueueAction {
    operation = .turn
    defer { ended = [] }
    for id in ended { attempts[id]?.phase = .settling }
    return .turn(ending: ended, claiming: ids)
  }

  /// The store failed: the window is read again after a while.
  private mutating func waitForStore(_ now: Date, _ actions: inout [JobQueueAction]) {
    isWindowStale = true
    let time = now.addingTimeInterval(Self.failureDelay)
    searchesAgainAt = time
    actions.append(.wakeAt(time))
  }

  private enum Pick {
    case jobs([JobID])
    /// The window may not hold the best candidates.
    case search(JobQueueAction.Search)
  }

  /// The waiting jobs to start in the free slots.
  private mutating func pick(now: Date) -> Pick {
    guard isolated == nil, !isStopping, quotaEnds == nil, load.total < limits.admission.maxActive,
      finishing < limits.maximumFinishing
    else { return .jobs([]) }
    governor.adjustToClock(now)
    let capacity = capacityRule(now: now)
    // New jobs may have a higher priority than those in the window.
    if !isWindowStale {
      let picked = limits.admission.pick(
        from: &window, load: load, capacity: capacity, lastProbes: governor.lastProbes(now: now))
      if !picked.isEmpty { return .jobs(startable(picked)) }
    }
    return search(beside: load, capacity, now: now).map(Pick.search) ?? .jobs([])
  }

  /// The search for other candidates than those in the window; `nil` if it would find none.
  /// - Parameter load: the running transfers that count.
  private mutating func search(
    beside load: Admission.Load, _ capacity: (String) -> Int, now: Date
  ) -> JobQueueAction.Search? {
    let reopenTimes = reopenTimes(after: now)
    let admission = limits.admission
    let excluded = Exclusions(
      origins: admission.saturated(load, capacity: capacity).union(reopenTimes.keys),
      batches: admission.fullBatches(load))
    guard searchesAgainAt == nil, isWindowStale || lastEmptyExclusions != excluded else { return nil }
    if isWindowStale { window = CandidateWindow() }
    isWindowStale = false
    return .init(
      excludedOrigins: excluded.origins, excludedBatches: excluded.batches,
      reopenTimes: reopenTimes, cursor: cursor, limit: Self.windowSize)
  }

  /// The daemon is full: jobs of higher priority may take slots.
  private mutating func preempt(now: Date) -> [JobQueueAction] {
    guard mayPreempt else { return [] }
    governor.adjustToClock(now)
    let capacity = capacityRule(now: now)
    if isWindowStale {
      guard let search = search(beside: loadWithoutStoppable, capacity, now: now) else { return [] }
      operation = .search
      return [.search(search)]
    }
    var actions: [JobQueueAction] = []
    let stopped = takeSlots(capacity, now: now, &actions)
    stop(stopped, .preemption, &actions)
    return actions
  }

  /// The origins that may begin no transfer now, each with the time at which it may again.
  private func reopenTimes(after now: Date) -> [String: Date] {
    governor.reopenTimes(after: now).merging(pacing.reopenTimes(limits.admission.origins, after: now)) { max($0, $1) }
  }

  /// When the origin's `interval` ends; `nil`: it may begin a transfer.
  func pacedUntil(_ origin: String, now: Date) -> Date? {
    pacing.reopenTime(of: origin, limits.admission.origins, after: now)
  }

  /// The number of concurrent transfers that an origin may have now; a fixed `maxPerOrigin` is a further bound.
  func capacityRule(now: Date) -> (String) -> Int {
    // Not `self`: it holds the window, which would be copied at the next change.
    { [governor, widths, limits, pacing, load] origin in
      var capacity = governor.capacity(of: origin, now: now)
      let rules = limits.admission.origins
      if let rule = rules.rule(for: origin) {
        if pacing.reopenTime(of: origin, rules, after: now) != nil { return 0 }
        // One transfer in each interval.
        if rule.interval != nil { capacity = min(capacity, load.perOrigin[origin, default: 0] + 1) }
        if rule.maxActive != nil { return capacity }
      }
      guard limits.admission.maxPerOrigin == .automatic else { return capacity }
      return min(capacity, widths.claims(of: origin))
    }
  }

  /// A queue in the same state, with no store operation under way and an empty window: for a plan.
  func restarted() -> JobQueue {
    var queue = JobQueue(limits: limits, governor: governor)
    (queue.widths, queue.pacing, queue.closedWindows) = (widths.withoutClaimsAhead(), pacing, closedWindows)
    queue.attempts = attempts.filter { $0.value.phase == .transferring || $0.value.phase == .finishing }
    (queue.load, queue.isolated, queue.mayNeedIsolation) = (load, isolated, true)
    (queue.preemption, queue.quotaEnds) = (preemption, quotaEnds)
    return queue
  }

  /// Attempts that verify and rename their files.
  var finishing: Int { attempts.count - load.claimed }  // checked: counts running jobs

  /// The ids without those of jobs whose last attempt is not stored yet, because a job has only one attempt at a time.
  private mutating func startable(_ ids: [JobID]) -> [JobID] {
    guard ids.contains(where: { attempts[$0] != nil }) else { return ids }
    isWindowStale = true
    return ids.filter { attempts[$0] == nil }
  }
}
