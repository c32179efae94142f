import FoundationEssentials
import Store
import TransferAPI

/// When waiting jobs are expected to begin and to end: a copy of the queue decides, and a virtual clock moves from event to
/// event. Pure, and bounded in its work.
///
/// Every attempt is expected to succeed, at the rate that was observed. A job of unknown size is expected to be as long as the
/// files that were transferred lately, so that the jobs behind it have a time; its own end stays unknown.
struct PlanSimulation {
  /// When a job is expected to run; `nil` where that cannot be said.
  struct Expectation: Equatable, Sendable {
    var start: Date?
    var end: Date?
  }

  /// What is known about the speed of transfers, in bytes a second and bytes.
  struct Observations: Equatable, Sendable {
    var rates: [String: Double] = [:]
    var typicalBytes: Double?

    /// Of an origin; or else of all of them. A job with a limit of its own is not faster than that.
    func rate(of origin: String, limitedTo limit: Int64?) -> Double? {
      // checked: floating point does not trap
      let rate = rates[origin] ?? (rates.isEmpty ? nil : rates.values.reduce(0, +) / Double(rates.count))
      return [rate, limit.map { Double($0) }].compactMap { $0 }.min()
    }
  }

  private struct Entry {
    let job: PlannedJob
    /// Of its transfer; `nil`: unknown, so it ends never.
    var seconds: Double?
    var isSizeKnown: Bool
    var expectation = Expectation()
    var isStarted = false
  }

  private enum Moment {
    case end(JobID)
    case wake
    case windows
  }

  /// The most jobs of a plan.
  static let maximumJobs = 10_000
  /// The most events: each job begins and ends, and a few wake the queue.
  private static let maximumEvents = 100_000
  /// The most jobs that searches look at: some seconds.
  private static let maximumLooks = 20_000_000
  /// The longest time in seconds for which a plan is made.
  private static let horizon = 30 * 86_400.0
  /// The least time of a transfer in seconds.
  private static let shortestTransfer = 0.05

  private var queue: JobQueue
  private let local: (Date) -> RateTimetable.LocalTime
  private let windows: Set<DailyWindow>
  private var entries: [JobID: Entry] = [:]
  /// Jobs that have not started, in the order of the queue.
  private var waiting: [JobID] = []
  /// Transfers that run already, and the seconds that they still take; `nil`: unknown.
  private let running: [JobID: Double?]
  private var completed: Set<JobID> = []
  /// What some of the jobs wait for.
  private let awaited: Set<PlannedJob.Obstacle>
  /// The number of unfinished jobs of batches that others wait for.
  private var unfinished: [BatchID: Int]
  private var agenda = Agenda()
  /// When transfers are expected to end. The agenda may also have earlier times, from before they gave up their slots.
  private var ends: [JobID: Date] = [:]
  /// Transfers that ran at the beginning and have given up their slots. They are waiting jobs since, but not of the plan.
  private var displaced: Set<JobID> = []
  private var now: Date
  private var looks = 0

  /// - Parameters:
  ///   - queue: its state now.
  ///   - running: the transfers under way, with the seconds that they still take.
  init(
    _ queue: JobQueue, _ facts: PlanFacts, running: [JobID: Double?], _ observations: Observations, now: Date,
    local: @escaping (Date) -> RateTimetable.LocalTime
  ) {
    self.queue = queue.restarted()
    self.running = running
    self.now = now
    self.local = local
    unfinished = facts.unfinished
    windows = Set(facts.jobs.compactMap(\.facts.window))
    awaited = Set(facts.jobs.flatMap(\.obstacles))
    for planned in facts.jobs where self.queue.attempts[planned.job.id] == nil {
      let job = planned.job
      let bytes = job.bytesTotal.map { Double(max(0, $0)) - Double(max(0, job.bytesDone)) }  // checked: floating point
      let expected = bytes.map { max(0, $0) } ?? observations.typicalBytes
      var seconds: Double?
      if let rate = observations.rate(of: planned.facts.origin, limitedTo: planned.limitRate), let expected {
        seconds = max(Self.shortestTransfer, expected / rate)  // checked: floating point does not trap
      }
      entries[job.id] = Entry(job: planned, seconds: seconds, isSizeKnown: bytes != nil)
      waiting.append(job.id)
      for time in [planned.facts.waitsUntil, job.retryAt].compactMap({ $0 }) { agenda.add(.wake, at: time) }
    }
  }

  /// - Returns: for each waiting job when it is expected to run.
  mutating func run() -> [JobID: Expectation] {
    let end = now.addingTimeInterval(Self.horizon)
    for id in queue.attempts.keys.sorted() {
      guard let seconds = running[id] ?? nil else { continue }
      willEnd(id, at: now.addingTimeInterval(seconds))
    }
    moveWindows()
    send(.jobsChanged)
    var events = 0
    while events < Self.maximumEvents, looks < Self.maximumLooks, let (time, moment) = agenda.next(), time <= end {
      events += 1
      now = max(now, time)
      switch moment {
      case .end(let id): if ends[id] == time { send(.ended([id])) }
      case .wake: send(.jobsChanged)
      case .windows:
        moveWindows()
        send(.jobsChanged)
      }
    }
    return entries.filter { !displaced.contains($0.key) }.mapValues(\.expectation)
  }

  private mutating func willEnd(_ id: JobID, at time: Date) {
    ends[id] = time
    agenda.add(.end(id), at: time)
  }

  /// Opens and closes windows. A transfer that runs when its window closes is expected to end: what it leaves is small, or cannot
  /// be resumed.
  private mutating func moveWindows() {
    guard !windows.isEmpty else { return }
    let plan = WindowPlan(windows, at: now, local)
    send(.windowsChanged(plan.closed))
    if let next = plan.next { agenda.add(.windows, at: next) }
  }

  /// Reports an event to the queue, and performs its actions at once.
  private mutating func send(_ event: JobQueueEvent) {
    var events = [event]
    var index = 0
    while index < events.count {
      defer { index += 1 }
      for action in queue.handle(events[index], now: now) {
        switch action {
        case .search(let search): events.append(found(search))
        case .searchToRunAlone(let origins): events.append(foundToRunAlone(origins))
        case .turn(let ended, let picked): events += turn(ended, picked)
        case .start(let ids): for id in ids { start(id) }
        case .wakeAt(let time): agenda.add(.wake, at: time)
        case .cancel(let ids): events.append(.ended(displace(ids)))
        case .limitIsolation, .limitConnections: break
        }
      }
    }
  }

  private mutating func start(_ id: JobID) {
    guard let entry = entries[id] else { return }
    entries[id]?.expectation.start = now
    guard let seconds = entry.seconds else { return }
    let end = now.addingTimeInterval(seconds)
    if entry.isSizeKnown { entries[id]?.expectation.end = end }
    willEnd(id, at: end)
  }

  /// Transfers give up their slots to jobs of higher priority, and wait again with what they have left.
  private mutating func displace(_ ids: [JobID]) -> [JobID] {
    for id in ids {
      guard let attempt = queue.attempts[id] else { continue }
      let job = Job(
        id: id, kind: .download, state: .queued, source: "", destination: "", maxAttempts: 1,
        priority: attempt.priority, createdAt: now)
      let facts = WaitFacts(origin: attempt.origin, batch: attempt.batch)
      // checked: floating point does not trap
      let rest = ends[id].map { max(Self.shortestTransfer, $0.timeIntervalSince(now)) }
      entries[id] = Entry(
        job: PlannedJob(job: job, owner: attempt.owner, facts: facts), seconds: rest, isSizeKnown: false)
      ends[id] = nil
      displaced.insert(id)
      let next = waiting.firstIndex { (entries[$0]?.job.job.priority ?? 0, id) < (attempt.priority, $0) }
      waiting.insert(id, at: next ?? waiting.endIndex)
    }
    return ids
  }

  // MARK: The store

  private mutating func found(_ search: JobQueueAction.Search) -> JobQueueEvent {
    if waiting.contains(where: { entries[$0]?.isStarted == true }) {
      waiting.removeAll { entries[$0]?.isStarted == true }
    }
    var candidates: [Candidate] = []
    for id in waiting where candidates.count < search.limit {
      looks += 1
      guard let job = entries[id]?.job, !job.facts.runsAlone, isReady(job),
        !search.excludedOrigins.contains(job.facts.origin),
        job.facts.batch.map({ !search.excludedBatches.contains($0) }) ?? true
      else { continue }
      candidates.append(candidate(job))
    }
    return .found(candidates, search, wakeTime: search.reopenTimes.values.filter { $0 > now }.min())
  }

  private func foundToRunAlone(_ excludedOrigins: Set<String>) -> JobQueueEvent {
    let alone = waiting.compactMap { entries[$0] }.filter { $0.job.facts.runsAlone && !$0.isStarted }.map(\.job)
    let ready = alone.first { isReady($0) && !excludedOrigins.contains($0.facts.origin) }
    return .foundToRunAlone(ready.map { [candidate($0)] } ?? [], mayNeedIsolation: !alone.isEmpty)
  }

  private func candidate(_ job: PlannedJob) -> Candidate {
    Candidate(
      id: job.job.id, origin: job.facts.origin, priority: job.job.priority, batch: job.facts.batch, owner: job.owner)
  }

  private func isReady(_ job: PlannedJob) -> Bool {
    if let time = job.facts.waitsUntil, time > now { return false }
    if let time = job.job.retryAt, time > now { return false }
    if let window = job.facts.window, queue.closedWindows[window] != nil { return false }
    return job.obstacles.allSatisfy { obstacle in
      switch obstacle {
      case .job(let id): completed.contains(id)
      case .batch(let batch): unfinished[batch] == 0
      }
    }
  }

  private mutating func turn(_ ended: [JobID], _ picked: [JobID]) -> [JobQueueEvent] {
    var turn = JobQueueEvent.Turn()
    for id in ended {
      guard let attempt = queue.attempts[id] else { continue }
      // Otherwise it has given up its slot.
      if !displaced.contains(id) || entries[id]?.isStarted == true {
        completed.insert(id)
        if let batch = attempt.batch, let count = unfinished[batch] { unfinished[batch] = max(0, count - 1) }
      }
      turn.ended.append(.init(job: id, origin: attempt.origin))
    }
    for id in picked {
      guard let entry = entries[id], !entry.isStarted, isReady(entry.job) else { continue }
      entries[id]?.isStarted = true
      let job = entry.job
      turn.claimed.append(
        .init(
          job: id, origin: job.facts.origin, batch: job.facts.batch, owner: job.owner, fence: 1,
          isLarge: (job.job.bytesTotal ?? 0) > FinishedTransfer.smallFile,
          isolationLimit: job.facts.runsAlone ? .seconds(600) : nil))
    }
    let isAwaited = ended.contains { id in
      awaited.contains(.job(id)) || queue.attempts[id]?.batch.map { awaited.contains(.batch($0)) } ?? false
    }
    return [.turned(turn)] + (isAwaited ? [.jobsChanged] : [])
  }

  /// What happens later: a heap, the earliest first.
  private struct Agenda {
    private var heap: [(time: Date, moment: Moment)] = []

    mutating func add(_ moment: Moment, at time: Date) {
      heap.append((time, moment))
      var child = heap.count - 1
      while child > 0 {
        let parent = (child - 1) / 2
        guard heap[child].time < heap[parent].time else { return }
        heap.swapAt(child, parent)
        child = parent
      }
    }

    mutating func next() -> (time: Date, moment: Moment)? {
      guard let first = heap.first, let last = heap.popLast() else { return nil }
      guard !heap.isEmpty else { return first }
      heap[0] = last
      var parent = 0
      while true {
        let children = [parent * 2 + 1, parent * 2 + 2].filter { $0 < heap.count }
        guard let child = children.min(by: { heap[$0].time < heap[$1].time }), heap[child].time < heap[parent].time
        else { return first }
        heap.swapAt(child, parent)
        parent = child
      }
    }
  }
}
