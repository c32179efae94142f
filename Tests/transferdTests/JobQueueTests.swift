import Foundation
import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct JobQueueTests {
  private static let now = Date(timeIntervalSince1970: 1_000_000)

  private static func queue(maxActive: Int = 4, maxPerOrigin: Int = 2) -> JobQueue {
    JobQueue(
      limits: .init(admission: Admission(maxActive: maxActive, maxPerOrigin: .fixed(maxPerOrigin))),
      governor: OriginGovernor(now: now))
  }

  private static func candidates(_ ids: Int64..., origin: String = "a") -> [Candidate] {
    ids.map { Candidate(id: JobID($0), origin: origin, priority: 0) }
  }

  private static func claims(_ ids: Int64..., origin: String = "a") -> [JobQueueEvent.Claim] {
    ids.map { .init(job: JobID($0), origin: origin, fence: 1) }
  }

  private static let search = JobQueueAction.Search(excludedOrigins: [], reopenTimes: [:], limit: JobQueue.windowSize)

  /// A queue with jobs 1 and 2 of origin a under way.
  private static func busyQueue() -> JobQueue {
    var queue = queue()
    _ = queue.handle(.jobsChanged, now: now)
    _ = queue.handle(.found(candidates(1, 2), search, wakeTime: nil), now: now)
    _ = queue.handle(.turned(.init(claimed: claims(1, 2))), now: now)
    // The search that follows finds nothing.
    let excluded = JobQueueAction.Search(excludedOrigins: ["a"], reopenTimes: [:], limit: JobQueue.windowSize)
    _ = queue.handle(.found([], excluded, wakeTime: nil), now: now)
    return queue
  }

  // MARK: The common way

  @Test("a waiting job is searched, claimed, started, settled and forgotten")
  func lifecycle() {
    var queue = Self.queue()
    #expect(queue.handle(.limitsChanged(queue.limits), now: Self.now) == [])
    #expect(queue.handle(.jobsChanged, now: Self.now) == [.search(Self.search)])
    #expect(
      queue.handle(.found(Self.candidates(1), Self.search, wakeTime: nil), now: Self.now)
        == [.turn(ending: [], claiming: [JobID(1)])])
    #expect(
      queue.handle(.turned(.init(claimed: Self.claims(1))), now: Self.now)
        == [.start([JobID(1)]), .search(Self.search)])
    #expect(queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now) == [])
    #expect(queue.attempts[JobID(1)]?.phase == .transferring)
    #expect(queue.handle(.transferred([.init(job: JobID(1), fence: 1, isLarge: false)]), now: Self.now) == [])
    #expect(queue.attempts[JobID(1)]?.phase == .finishing)
    #expect(queue.handle(.ended([JobID(1)]), now: Self.now) == [.turn(ending: [JobID(1)], claiming: [])])
    let turn = JobQueueEvent.Turn(ended: [.init(job: JobID(1), origin: "a")])
    #expect(queue.handle(.turned(turn), now: Self.now) == [])
    #expect(queue.isIdle)
  }

  @Test("ends that arrive during a turn are stored together by the next one, which also claims")
  func groups() {
    var queue = Self.busyQueue()
    #expect(queue.handle(.ended([JobID(1)]), now: Self.now) == [.search(Self.search)])
    #expect(queue.handle(.ended([JobID(2)]), now: Self.now) == [])
    #expect(
      queue.handle(.found(Self.candidates(3, 4, 5), Self.search, wakeTime: nil), now: Self.now)
        == [.turn(ending: [JobID(1), JobID(2)], claiming: [JobID(3), JobID(4)])])
  }

  @Test("a postponed job wakes the queue at its retry time")
  func postponed() {
    var queue = Self.busyQueue()
    _ = queue.handle(.ended([JobID(1)]), now: Self.now)
    _ = queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now)
    let retryAt = Self.now.addingTimeInterval(30)
    let actions = queue.handle(
      .turned(.init(ended: [.init(job: JobID(1), origin: "a", retryAt: retryAt)])), now: Self.now)
    #expect(actions.contains(.wakeAt(retryAt)))
  }

  @Test("the end of a former attempt changes nothing")
  func formerAttempt() {
    var queue = Self.busyQueue()
    #expect(
      queue.handle(
        .transferred([.init(job: JobID(1), fence: 7, isLarge: false), .init(job: JobID(9), fence: 1, isLarge: true)]),
        now: Self.now) == [])
    #expect(queue.handle(.ended([JobID(9)]), now: Self.now) == [])
    #expect(queue.attempts.values.allSatisfy { $0.phase == .transferring })
  }

  @Test("with auto 8 transfers of an origin start, and one of a larger file keeps others from growing above 8")
  func automaticWidth() {
    var queue = JobQueue(
      limits: .init(admission: Admission(maxActive: 64, maxPerOrigin: .automatic)),
      governor: OriginGovernor(now: Self.now))
    var time = Self.now
    var running: [JobID] = []
    /// Reports an event, and answers searches and turns at once.
    func send(_ event: JobQueueEvent) {
      var actions = queue.handle(event, now: time)
      while !actions.isEmpty {
        switch actions.removeFirst() {
        case .search(let search):
          actions += queue.handle(.found([], search, wakeTime: nil), now: time)
        case .turn(let ended, let claimed):
          running += claimed
          let turn = JobQueueEvent.Turn(
            ended: ended.map { .init(job: $0, origin: "a") },
            claimed: claimed.map { .init(job: $0, origin: "a", fence: 1) })
          actions += queue.handle(.turned(turn), now: time)
        default: break
        }
      }
    }
    _ = queue.handle(.jobsChanged, now: time)
    let candidates = (1...400).map { Candidate(id: JobID($0), origin: "a", priority: 0) }
    send(.found(candidates, Self.search, wakeTime: nil))
    #expect(running.count == 8 && queue.maxPerOriginInForce == 8)
    // Every 10 ms all running files arrive: the speed grows with the width.
    for _ in 0..<30 where running.count < 32 {
      time += 0.01
      let arrived = running
      running = []
      send(.transferred(arrived.map { .init(job: $0, fence: 1, isLarge: false) }))
      send(.ended(arrived))
    }
    #expect(running.count == 32)
    #expect(queue.maxPerOriginInForce == 32)
    send(.foundLarge(running[0], fence: 1))
    #expect(queue.maxPerOriginInForce == 8)
    send(.ended([running[0]]))
    #expect(queue.maxPerOriginInForce == 32)
    queue.recordRefusal(by: "a", now: time)
    #expect(queue.maxPerOriginInForce == 16)
  }

  // MARK: Failures of the store

  @Test("after a failed search the ends are stored, and the next search waits")
  func failedSearch() {
    var queue = Self.busyQueue()
    _ = queue.handle(.ended([JobID(1)]), now: Self.now)
    let later = Self.now.addingTimeInterval(JobQueue.failureDelay)
    #expect(
      queue.handle(.searchFailed, now: Self.now)
        == [.wakeAt(later), .turn(ending: [JobID(1)], claiming: [])])
    let turn = JobQueueEvent.Turn(ended: [.init(job: JobID(1), origin: "a")])
    #expect(queue.handle(.turned(turn), now: Self.now) == [])
    #expect(queue.handle(.jobsChanged, now: Self.now) == [.wakeAt(later)], "an earlier alarm has replaced this one")
    #expect(queue.handle(.jobsChanged, now: later) == [.search(Self.search)])
  }

  @Test("after a failed turn nothing runs that the store does not know")
  func failedTurn() {
    var queue = Self.queue()
    _ = queue.handle(.jobsChanged, now: Self.now)
    _ = queue.handle(.found(Self.candidates(1), Self.search, wakeTime: nil), now: Self.now)
    let later = Self.now.addingTimeInterval(JobQueue.failureDelay)
    #expect(queue.handle(.turned(.init(hasFailed: true)), now: Self.now) == [.wakeAt(later)])
    #expect(queue.isIdle)
    #expect(queue.handle(.jobsChanged, now: later) == [.search(Self.search)])
  }

  // MARK: Stops

  @Test("the stronger reason of two stops counts")
  func stops() {
    var queue = Self.busyQueue()
    #expect(queue.handle(.stop([JobID(1), JobID(9)], .cancel), now: Self.now) == [.cancel([JobID(1)])])
    #expect(queue.handle(.stop([JobID(1)], .pause), now: Self.now) == [.cancel([JobID(1)])])
    #expect(queue.attempts[JobID(1)]?.stop == .cancel)
  }

  @Test("a shutdown stops what runs and what a turn under way starts, and nothing else starts")
  func shutdown() {
    var queue = Self.busyQueue()
    _ = queue.handle(.ended([JobID(1)]), now: Self.now)
    _ = queue.handle(.found(Self.candidates(3), Self.search, wakeTime: nil), now: Self.now)
    #expect(queue.handle(.shutdown, now: Self.now) == [.cancel([JobID(2)])])
    let turn = JobQueueEvent.Turn(ended: [.init(job: JobID(1), origin: "a")], claimed: Self.claims(3))
    #expect(queue.handle(.turned(turn), now: Self.now) == [.start([JobID(3)]), .cancel([JobID(3)])])
    #expect(queue.handle(.jobsChanged, now: Self.now) == [])
    #expect(
      queue.handle(.ended([JobID(2), JobID(3)]), now: Self.now)
        == [.turn(ending: [JobID(2), JobID(3)], claiming: [])])
    let last = JobQueueEvent.Turn(
      ended: [.init(job: JobID(2), origin: "a"), .init(job: JobID(3), origin: "a", retryAt: Self.now)])
    _ = queue.handle(.turned(last), now: Self.now)
    #expect(queue.isIdle)
  }

  // MARK: Isolation

  @Test("a job that must run alone starts when no other runs or can start, and others wait for it")
  func isolation() {
    var queue = Self.queue()
    _ = queue.handle(.isolationNeeded, now: Self.now)
    #expect(queue.handle(.jobsChanged, now: Self.now) == [.search(Self.search)])
    #expect(
      queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now) == [.searchToRunAlone(excludedOrigins: [])])
    #expect(
      queue.handle(.foundToRunAlone(Self.candidates(7), mayNeedIsolation: true), now: Self.now)
        == [.turn(ending: [], claiming: [JobID(7)])])
    var claim = Self.claims(7)[0]
    claim.isolationLimit = .seconds(600)
    let attempt = JobQueue.IsolatedAttempt(job: JobID(7), fence: 1)
    #expect(
      queue.handle(.turned(.init(claimed: [claim])), now: Self.now)
        == [.limitIsolation(attempt, .seconds(600)), .start([JobID(7)])])
    #expect(queue.handle(.jobsChanged, now: Self.now) == [])
    let other = JobQueue.IsolatedAttempt(job: JobID(7), fence: 2)
    #expect(queue.handle(.isolationLimitReached(other), now: Self.now) == [])
    #expect(queue.handle(.isolationLimitReached(attempt), now: Self.now) == [.search(Self.search)])
  }

  @Test("jobs that were added during the search go before the job that must run alone")
  func addedDuringIsolatedSearch() {
    var queue = Self.queue()
    _ = queue.handle(.isolationNeeded, now: Self.now)
    _ = queue.handle(.jobsChanged, now: Self.now)
    _ = queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now)
    #expect(queue.handle(.jobsChanged, now: Self.now) == [])
    #expect(
      queue.handle(.foundToRunAlone(Self.candidates(7), mayNeedIsolation: true), now: Self.now)
        == [.search(Self.search)])
  }

  @Test("a job that must run alone later is not searched again and again")
  func isolatedLater() {
    var queue = Self.queue()
    _ = queue.handle(.isolationNeeded, now: Self.now)
    _ = queue.handle(.jobsChanged, now: Self.now)
    _ = queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now)
    let later = Self.now.addingTimeInterval(JobQueue.isolationInterval)
    #expect(queue.handle(.foundToRunAlone([], mayNeedIsolation: true), now: Self.now) == [.wakeAt(later)])
    #expect(queue.handle(.limitsChanged(queue.limits), now: Self.now) == [.search(Self.search)])
    #expect(queue.handle(.found([], Self.search, wakeTime: nil), now: Self.now) == [])
  }

  // MARK: Every event in every state

  private enum State: CaseIterable {
    case notStarted, idle, searching, searchingToRunAlone, turning, busy, isolated, stopping

    var queue: JobQueue {
      let now = JobQueueTests.now
      var queue = JobQueueTests.queue()
      if self == .notStarted { return queue }
      if self == .searchingToRunAlone || self == .isolated { _ = queue.handle(.isolationNeeded, now: now) }
      _ = queue.handle(.jobsChanged, now: now)
      switch self {
      case .notStarted, .searching: break
      case .idle, .searchingToRunAlone: _ = queue.handle(.found([], JobQueueTests.search, wakeTime: nil), now: now)
      case .turning:
        _ = queue.handle(.found(JobQueueTests.candidates(1), JobQueueTests.search, wakeTime: nil), now: now)
      case .busy: queue = JobQueueTests.busyQueue()
      case .stopping:
        queue = JobQueueTests.busyQueue()
        _ = queue.handle(.shutdown, now: now)
      case .isolated:
        _ = queue.handle(.found([], JobQueueTests.search, wakeTime: nil), now: now)
        _ = queue.handle(.foundToRunAlone(JobQueueTests.candidates(1), mayNeedIsolation: false), now: now)
        var claim = JobQueueTests.claims(1)[0]
        claim.isolationLimit = .seconds(1)
        _ = queue.handle(.turned(.init(claimed: [claim])), now: now)
      }
      return queue
    }

    var hasOperation: Bool { [.searching, .searchingToRunAlone, .turning].contains(self) }
  }

  /// Events that may come at any time: those that no operation answers.
  private static let spontaneous: [JobQueueEvent] = [
    .jobsChanged, .isolationNeeded, .limitsChanged(.init(admission: Admission(maxActive: 1, maxPerOrigin: .fixed(1)))),
    .foundLarge(JobID(1), fence: 1), .transferred([.init(job: JobID(1), fence: 1, isLarge: false)]), .ended([JobID(1)]),
    .ended([]), .stop([JobID(1), JobID(2)], .pause),
    .isolationLimitReached(.init(job: JobID(1), fence: 1)), .shutdown,
  ]

  @Test("no event begins a second store operation, in any state", arguments: State.allCases)
  private func everyEvent(_ state: State) {
    for event in Self.spontaneous {
      var queue = state.queue
      let actions = queue.handle(event, now: Self.now)
      let operations = actions.count { $0.isOperation }
      #expect(operations <= (state.hasOperation ? 0 : 1), "\(state), \(event)")
      if state == .stopping || state == .notStarted && !Self.isStart(event) {
        #expect(!actions.contains { $0.isSearch }, "\(state), \(event)")
      }
    }
  }

  private static func isStart(_ event: JobQueueEvent) -> Bool { if case .jobsChanged = event { true } else { false } }
}

extension JobQueueAction {
  /// Whether the queue waits for an answer to it before it asks for another.
  var isOperation: Bool {
    switch self {
    case .search, .searchToRunAlone, .turn: true
    case .start, .cancel, .wakeAt, .limitIsolation, .limitConnections: false
    }
  }

  var isSearch: Bool {
    switch self {
    case .search, .searchToRunAlone: true
    default: false
    }
  }
}
