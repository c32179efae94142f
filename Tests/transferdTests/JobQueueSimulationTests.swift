import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import Store
@testable import transferd

/// Random sequences of events against a model of the store: jobs with a state, a priority and an origin.
@Suite struct JobQueueSimulationTests {
  @Test("10,000 random sequences lose no job, run none twice and keep all limits", arguments: 0..<20)
  func sequences(_ part: Int) async throws {
    for seed in 0..<500 {
      // Other tests wait with time limits for a thread of Swift's pool.
      await Task.yield()
      var simulation = Simulation(seed: UInt64(part * 500 + seed))
      #expect(throws: Never.self) {
        for _ in 0..<40 { try simulation.step() }
        try simulation.drain()
      }
    }
  }
}

private struct Simulation {
  private struct Job {
    let origin: String
    let batch: BatchID?
    let priority: Int
    var dueAt: Date
    var runsAlone: Bool
    /// The job that it waits for.
    var after: JobID?
    var isBlocked = false
    var waitsUntil: Date?
    var window: DailyWindow?
    var isRunning = false
    var isDone = false
    var fence: Int64 = 0
  }

  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private let seed: UInt64
  private var random: SeededGenerator
  private var now = Date(timeIntervalSince1970: 1_000_000)
  private var queue: JobQueue
  private var jobs: [JobID: Job] = [:]
  /// The store operation that is under way.
  private var operation: JobQueueAction?
  /// The daemon's alarm: it keeps the earliest time only.
  private var alarm: Date?
  /// Attempts that were started and have not ended.
  private var started: Set<JobID> = []
  private var transferred: Set<JobID> = []
  private var stopped: Set<JobID> = []
  private var isolated: JobQueue.IsolatedAttempt?
  /// When jobs gave up their slots.
  private var stoppedAt: [JobID: Date] = [:]
  /// Jobs that a search found and that were not claimed since.
  private var known: Set<JobID> = []

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    queue = JobQueue(
      limits: .init(admission: Admission(maxActive: 3, maxPerOrigin: .fixed(2)), maximumFinishing: 3),
      governor: OriginGovernor(now: now))
  }

  /// An origin with an interval, and one with a limit of its own.
  private static let rules = [
    OriginRules(rules: [OriginRule(match: OriginPattern("a")!, interval: .seconds(5))]),
    OriginRules(rules: [
      OriginRule(match: OriginPattern("a")!, maxActive: 1),
      OriginRule(match: OriginPattern("*")!, maxActive: 5, interval: .seconds(1)),
    ]),
  ]

  private static let windows = [
    (try? DailyWindow(parsing: "22:00-06:00"))!, (try? DailyWindow(parsing: "08:00-09:00"))!,
  ]

  // MARK: Steps

  mutating func step() throws {
    switch Int.random(in: 0..<15, using: &random) {
    case 0, 1: try add()
    case 2, 3, 4: try answer()
    case 5, 6: if let id = started.sorted().randomElement(using: &random) { try end(id) }
    case 7: if let id = started.subtracting(transferred).sorted().randomElement(using: &random) { try transfer(id) }
    case 8: try stop()
    case 9:
      let perOrigin = Int.random(in: 0...4, using: &random)
      let limits = JobQueue.Limits(
        admission: Admission(
          maxActive: .random(in: 1...40, using: &random), maxPerOrigin: perOrigin == 0 ? .automatic : .fixed(perOrigin)),
        maximumFinishing: .random(in: 1...4, using: &random))
      var changed = limits
      for name in ["x", "y"] where Bool.random(using: &random) {
        changed.admission.batches[BatchID(owner: 1, name: name)] = .random(in: 1...3, using: &random)
      }
      if Bool.random(using: &random) { changed.admission.origins = Self.rules.randomElement(using: &random)! }
      try send(.limitsChanged(changed))
    case 10: try passTime(.random(in: 0...20, using: &random))
    case 11: try moveWindows()
    case 12: try unblock()
    case 13:
      // The quota of the day is used up rarely, and mostly for a short time.
      let isUsedUp = Int.random(in: 0..<4, using: &random) == 0
      try send(.quotaUsedUp(until: isUsedUp ? now + .random(in: 1...30, using: &random) : nil))
    default:
      guard let attempt = isolated, Bool.random(using: &random) else { return try send(.jobsChanged) }
      isolated = nil
      try send(.isolationLimitReached(attempt))
    }
  }

  /// Ends everything: each job must be done after a bounded number of steps.
  mutating func drain() throws {
    for id in jobs.keys.sorted() { jobs[id]!.isBlocked = false }
    setAlarm(now)
    try send(.windowsChanged([:]))
    try send(.quotaUsedUp(until: nil))
    try send(.jobsChanged)
    for _ in 0..<2000 {
      if jobs.values.allSatisfy(\.isDone), operation == nil, started.isEmpty {
        try check(queue.isIdle, "the queue is not idle at the end")
        return
      }
      if operation != nil {
        try answer(mayFail: false)
      } else if let id = started.sorted().first {
        try end(id, completes: true)
      } else {
        guard let alarm else { throw broken("jobs wait, and no wake time is set") }
        try passTime(max(0, alarm.timeIntervalSince(now)))
      }
    }
    throw broken("jobs are left: \(jobs.filter { !$0.value.isDone })")
  }

  private mutating func add() throws {
    var needsIsolation = false
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let id = JobID(Int64(jobs.count + 1))
      jobs[id] = Job(
        origin: ["http://a:80", "http://b:80", "http://c:80"].randomElement(using: &random)!,
        batch: [nil, "x", "y"].randomElement(using: &random)!.map { BatchID(owner: 1, name: $0) },
        priority: .random(in: 0...1, using: &random),
        dueAt: now,
        runsAlone: Int.random(in: 0..<10, using: &random) == 0)
      if chance(6), id.rawValue > 1 { jobs[id]!.after = JobID(.random(in: 1..<id.rawValue, using: &random)) }
      if chance(6) { jobs[id]!.isBlocked = true }
      if chance(6) { jobs[id]!.window = Self.windows.randomElement(using: &random)! }
      if chance(6) {
        jobs[id]!.waitsUntil = now + .random(in: 1...30, using: &random)
        setAlarm(jobs[id]!.waitsUntil!)
      }
      needsIsolation = needsIsolation || jobs[id]!.runsAlone
    }
    try send(.jobsChanged)
    if needsIsolation { try send(.isolationNeeded) }
  }

  private mutating func passTime(_ seconds: TimeInterval) throws {
    now += seconds
    guard let time = alarm, time <= now else { return }
    alarm = nil
    try send(.jobsChanged)
  }

  private mutating func chance(_ cases: Int) -> Bool { Int.random(in: 0..<cases, using: &random) == 0 }

  /// Windows open and close; the daemon stops nothing here.
  private mutating func moveWindows() throws {
    var closed: ClosedWindows = [:]
    for window in Self.windows where Bool.random(using: &random) { closed[window] = now + 3600 }
    // The next event says that jobs have changed.
    setAlarm(now)
    try send(.windowsChanged(closed))
    // The next search does not find them. After that, the queue knows them only when it has found them again.
    known = known.filter { !isHeld(jobs[$0]!) }
    try passTime(0)
  }

  /// The upload that went first has ended.
  private mutating func unblock() throws {
    guard let id = jobs.keys.sorted().first(where: { jobs[$0]!.isBlocked }) else { return }
    jobs[id]!.isBlocked = false
    try send(.jobsChanged)
  }

  private mutating func setAlarm(_ time: Date) { alarm = min(alarm ?? time, time) }

  private mutating func transfer(_ id: JobID) throws {
    transferred.insert(id)
    try send(
      .transferred([.init(job: id, fence: jobs[id]!.fence, isLarge: Int.random(in: 0..<4, using: &random) == 0)]))
  }

  private mutating func end(_ id: JobID, completes: Bool = false) throws {
    started.remove(id)
    let isPostponed = !completes && Int.random(in: 0..<3, using: &random) == 0
    if isPostponed {
      jobs[id]!.dueAt = now + .random(in: 0...30, using: &random)
    } else {
      jobs[id]!.dueAt = .distantPast
    }
    if !completes, Int.random(in: 0..<10, using: &random) == 0 {
      _ = queue.governor.close(jobs[id]!.origin, for: .seconds(10), now: now)
      setAlarm(now + 10)
    }
    try send(.ended([id]))
  }

  private mutating func stop() throws {
    guard let id = jobs.keys.sorted().randomElement(using: &random) else { return }
    if started.contains(id) { stopped.insert(id) }
    try send(.stop([id], .pause))
  }

  // MARK: The store

  private mutating func answer(mayFail: Bool = true) throws {
    guard let current = operation else { return }
    operation = nil
    let fails = mayFail && Int.random(in: 0..<10, using: &random) == 0
    switch current {
    case .search(let search):
      if fails { return try send(.searchFailed) }
      let found = candidates(alone: false, excluding: search.excludedOrigins).filter { candidate in
        candidate.batch.map { !search.excludedBatches.contains($0) } ?? true
      }
      known.formUnion(found.map(\.id))
      try send(.found(found, search, wakeTime: wakeTime(search)))
    case .searchToRunAlone(let excluded):
      if fails { return try send(.searchFailed) }
      let found = candidates(alone: true, excluding: excluded)
      let mayNeedIsolation = jobs.values.contains { $0.runsAlone && !$0.isDone }
      try send(.foundToRunAlone(Array(found.prefix(1)), mayNeedIsolation: mayNeedIsolation))
    case .turn(let ending, let claiming):
      try send(.turned(try turn(ending, claiming, fails: fails)))
    default: throw broken("\(current) is no operation")
    }
  }

  private func isWaiting(_ job: Job) -> Bool { !job.isDone && !job.isRunning && job.dueAt <= now && !isHeld(job) }

  /// The conditions of the store's indexes.
  private func isHeld(_ job: Job) -> Bool {
    let isClosed = job.window.map { queue.closedWindows[$0] != nil } ?? false
    return job.isBlocked || isClosed || isAfterAnother(job) || job.waitsUntil.map { $0 > now } ?? false
  }

  private func isAfterAnother(_ job: Job) -> Bool { job.after.map { !jobs[$0]!.isDone } ?? false }

  private func candidates(alone: Bool, excluding origins: Set<String>) -> [Candidate] {
    jobs.filter { isWaiting($0.value) && $0.value.runsAlone == alone && !origins.contains($0.value.origin) }
      .map { Candidate(id: $0.key, origin: $0.value.origin, priority: $0.value.priority, batch: $0.value.batch) }
      .sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
  }

  private func wakeTime(_ search: JobQueueAction.Search) -> Date? {
    var times = search.reopenTimes.map(\.value)
    times += jobs.values.filter { !$0.isDone && !$0.isRunning && $0.dueAt > now }.map(\.dueAt)
    times += jobs.values.compactMap(\.waitsUntil)
    return times.filter { $0 > now }.min()
  }

  private mutating func turn(_ ending: [JobID], _ claiming: [JobID], fails: Bool) throws -> JobQueueEvent.Turn {
    var turn = JobQueueEvent.Turn(hasFailed: fails)
    for id in ending {
      var job = jobs[id]!
      try check(job.isRunning && !started.contains(id), "\(id) is settled and did not end")
      job.isRunning = false
      job.isDone = job.dueAt == .distantPast
      jobs[id] = job
      // Jobs that waited for it may start: the daemon says so when the store has released them.
      if job.isDone, jobs.values.contains(where: { $0.after == id }) { setAlarm(now) }
      if isolated?.job == id { isolated = nil }
      turn.ended.append(.init(job: id, origin: job.origin, retryAt: job.isDone ? nil : job.dueAt))
    }
    guard !fails else { return turn }
    for id in claiming {
      var job = jobs[id]!
      // The store does not claim a job whose window has closed since the search.
      if job.window.map({ queue.closedWindows[$0] != nil }) ?? false {
        known.remove(id)
        continue
      }
      try check(isWaiting(job), "\(id) is claimed and does not wait")
      try checkOrder(id, job)
      known.remove(id)
      job.isRunning = true
      job.fence += 1
      jobs[id] = job
      turn.claimed.append(
        .init(
          job: id, origin: job.origin, batch: job.batch, fence: job.fence, priority: job.priority,
          isResumable: Bool.random(using: &random),
          isolationLimit: job.runsAlone ? .seconds(600) : nil))
    }
    return turn
  }

  /// No job overtakes another one of its origin that the queue knew.
  private func checkOrder(_ id: JobID, _ job: Job) throws {
    guard !job.runsAlone else { return }
    let overtaken = known.filter { other in
      let rival = jobs[other]!
      return rival.origin == job.origin && rival.batch == job.batch && isWaiting(rival)
        && (rival.priority, id) > (job.priority, other)
    }
    try check(overtaken.isEmpty, "\(id) overtakes \(overtaken)")
  }

  // MARK: The daemon

  private mutating func send(_ event: JobQueueEvent) throws {
    for action in queue.handle(event, now: now) {
      switch action {
      case .search, .searchToRunAlone, .turn:
        try check(operation == nil, "\(action) begins during \(operation as Any)")
        operation = action
        if case .turn(_, let claiming) = action {
          try checkLimits(claiming)
          try check(claiming.isEmpty || queue.quotaEnds == nil, "jobs start although the quota is used up")
          for id in claiming where !jobs[id]!.runsAlone {
            let reason = waiting(id, in: queue)?.reason
            try check(reason == nil || reason == .window, "\(id) starts and waits")
          }
        }
      case .start(let ids):
        for id in ids {
          try check(started.insert(id).inserted, "\(id) starts twice")
          transferred.remove(id)
        }
      case .cancel(let ids):
        try check(started.isSuperset(of: ids), "an attempt that ended is cancelled")
        for id in ids where queue.attempts[id]?.stop == .preemption { try checkPreemption(of: id) }
      case .wakeAt(let time): setAlarm(time)
      case .limitIsolation(let attempt, _): isolated = attempt
      case .limitConnections: break
      }
    }
    try checkReasons()
  }

  /// A slot is taken from a resumable transfer, by a waiting job of higher priority, at most once a minute, while all slots are
  /// in use.
  private mutating func checkPreemption(of id: JobID) throws {
    guard let attempt = queue.attempts[id] else { throw broken("\(id) has no attempt") }
    try check(
      attempt.isResumable && queue.load.total >= queue.limits.admission.maxActive, "\(id) is stopped for nothing")
    try check(jobs.values.contains { isWaiting($0) && $0.priority > attempt.priority }, "\(id) is stopped for no one")
    try check(stoppedAt[id].map { now.timeIntervalSince($0) >= 60 } ?? true, "\(id) is stopped twice in a minute")
    stoppedAt[id] = now
  }

  private func waiting(_ id: JobID, in queue: JobQueue) -> Waiting? {
    let job = jobs[id]!
    let shown = TransferAPI.Job(
      id: id, kind: .download, state: job.dueAt > now ? .retrying : .queued, source: "", destination: "",
      maxAttempts: 1, retryAt: job.dueAt > now ? job.dueAt : nil, createdAt: now)
    return queue.waiting(shown, facts(job), now: now)
  }

  private func facts(_ job: Job) -> WaitFacts {
    WaitFacts(
      origin: job.origin, batch: job.batch, waitsUntil: job.waitsUntil, window: job.window,
      openDependencies: isAfterAnother(job) ? 1 : 0, firstDependency: job.after.map(JobDependency.job),
      isBlocked: job.isBlocked, runsAlone: job.runsAlone)
  }

  /// A job that could run and does not has a reason, and runs once the reason is gone; a job that is claimed has none.
  private func checkReasons() throws {
    // An alarm that is due comes next.
    guard operation == nil, alarm.map({ $0 > now }) ?? true else { return }
    var relaxed = queue
    relaxed.governor = OriginGovernor(now: now)
    _ = relaxed.handle(
      .limitsChanged(
        .init(admission: Admission(maxActive: 10_000, maxPerOrigin: .fixed(10_000)), maximumFinishing: 10_000)),
      now: now)
    for (id, job) in jobs where !job.isDone && !job.isRunning && !job.runsAlone {
      guard let waiting = waiting(id, in: queue) else { throw broken("\(id) waits for no reason: \(job) \(queue)") }
      switch waiting.reason {
      case .retry: try check(waiting.until == job.dueAt, "\(id) waits until another time")
      case .limit:
        try check(waiting.until == queue.quotaEnds, "\(id) waits until the end of another quota")
        var free = queue
        _ = free.handle(.quotaUsedUp(until: nil), now: now)
        try check(self.waiting(id, in: free)?.reason != .limit, "\(id) waits without a quota")
      // A retry after the failure `network`, which no attempt has here.
      case .network: throw broken("\(id) waits for an interface")
      case .batch:
        var free = queue
        var limits = queue.limits
        limits.admission.batches[job.batch!] = nil
        _ = free.handle(.limitsChanged(limits), now: now)
        try check(self.waiting(id, in: free) == nil, "\(id) waits without the limit of its batch")
      case .slot, .origin:
        guard queue.isolated == nil, queue.isStarted, job.dueAt <= now, queue.searchesAgainAt == nil else { continue }
        try check(self.waiting(id, in: relaxed) == nil, "\(id) waits without any limit: \(waiting)")
      case .disk: try check(queue.searchesAgainAt != nil, "\(id) waits for a database that works")
      case .notBefore:
        try check(waiting.until == job.waitsUntil && job.waitsUntil! > now, "\(id) waits until another time")
        try checkNext(id) { $0.waitsUntil = nil }
      case .window:
        try check(waiting.until == queue.closedWindows[job.window!], "\(id) waits for another window")
        try checkNext(id) { $0.window = nil }
      case .after:
        try check(isAfterAnother(job), "\(id) waits for a job that is done")
        try checkNext(id) { $0.after = nil }
      case .blockedBy:
        try check(job.isBlocked, "\(id) is not blocked")
        try checkNext(id) { $0.isBlocked = false }
      }
    }
  }

  /// Without the named condition the job waits for something else, or starts.
  private func checkNext(_ id: JobID, _ change: (inout Job) -> Void) throws {
    var copy = self
    let before = waiting(id, in: queue)?.reason
    change(&copy.jobs[id]!)
    let after = copy.waiting(id, in: queue)?.reason
    try check(after != before, "\(id) waits for \(before as Any) without it")
    try check(after != nil || copy.isWaiting(copy.jobs[id]!), "\(id) has no other reason, and does not start")
  }

  private func checkLimits(_ claiming: [JobID]) throws {
    guard !claiming.isEmpty else { return }
    let admission = queue.limits.admission
    let transferring = started.subtracting(transferred) + claiming
    try check(transferring.count <= admission.maxActive, "\(transferring.count) transfers")
    // A limit that was lowered does not stop what runs already.
    let claimedOrigins = Set(claiming.map { jobs[$0]!.origin })
    for (origin, ids) in Dictionary(grouping: transferring, by: { jobs[$0]!.origin })
    where claimedOrigins.contains(origin) {
      let limit = admission.origins.rule(for: origin)?.maxActive ?? queue.maxPerOriginInForce
      try check(ids.count <= limit, "\(ids.count) transfers of \(origin)")
      if admission.origins.rule(for: origin)?.interval != nil {
        let new = claiming.filter { jobs[$0]!.origin == origin }
        try check(new.count == 1 && queue.pacedUntil(origin, now: now) == nil, "\(new) start in one interval")
      }
    }
    for (batch, ids) in Dictionary(grouping: transferring, by: { jobs[$0]!.batch }) {
      guard let batch, let limit = admission.batches[batch], claiming.contains(where: { jobs[$0]!.batch == batch })
      else { continue }
      try check(ids.count <= limit, "\(ids.count) transfers of the batch \(batch.name)")
    }
    for id in claiming {
      try check(!queue.governor.isClosed(jobs[id]!.origin, now: now), "\(id) starts at a closed origin")
      try check(isolated == nil, "\(id) starts beside an isolated job")
      try check(!jobs[id]!.runsAlone || started.isEmpty && claiming.count == 1, "\(id) does not run alone")
    }
  }

  private func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw broken(text()) }
  }

  private func broken(_ text: String) -> Broken { Broken(description: "seed \(seed): \(text)") }
}

extension Set<JobID> {
  fileprivate static func + (set: Set<JobID>, ids: [JobID]) -> [JobID] { Array(set) + ids }
}
