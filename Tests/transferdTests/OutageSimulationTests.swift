import FoundationEssentials
import Testing
import TransferAPI
import TransferEngine

@testable import Store
@testable import transferd

/// C4, P5: what an outage costs, by the policies alone and a clock that is counted.
@Suite struct OutageSimulationTests {
  private struct Waiting {
    var attempt = 0
    var due: Date
    var hasFailed = false
    var isDone = false
  }

  /// Second by second: who is due asks, and an attempt ends at once.
  private struct World {
    var now = Date(timeIntervalSince1970: 1_000_000)
    var governor: OriginGovernor
    var jobs: [Waiting]
    var generator: SystemRandomNumberGenerator = .init()
    let admission = Admission(maxActive: 16, maxPerOrigin: 8)
    let maximumAttempts = 20
    var mostAttempts: Int { jobs.map(\.attempt).max() ?? 0 }
    static let origin = "http://h:80"

    init(jobs count: Int) {
      governor = OriginGovernor(now: now)
      jobs = Array(repeating: Waiting(due: now), count: count)
    }

    /// - Returns: attempts that were made.
    mutating func second(isReachable: Bool) -> Int {
      defer { now = now.addingTimeInterval(1) }
      var window = CandidateWindow(
        jobs.indices.filter { !jobs[$0].isDone && !jobs[$0].hasFailed && jobs[$0].due <= now }
          .map { Candidate(id: JobID(Int64($0)), origin: Self.origin, priority: 0) })
      guard !governor.isBlocked(Self.origin, now: now) else { return 0 }
      let capacity = governor.capacity(of: Self.origin, now: now)
      let picked = admission.pick(
        from: &window, load: .init(), capacity: { _ in capacity }, lastProbes: governor.lastProbes(now: now))
      for id in picked { attempt(Int(id.rawValue), isReachable: isReachable) }
      return picked.count
    }

    private mutating func attempt(_ index: Int, isReachable: Bool) {
      jobs[index].attempt += 1
      guard !isReachable else {
        governor.answered(Self.origin, now: now)
        jobs[index].isDone = true
        return
      }
      governor.failed(Self.origin, by: JobID(Int64(index)), now: now)
      jobs[index].hasFailed = jobs[index].attempt >= maximumAttempts
      let delay = AttemptVerdict.policy.delay(
        forAttempt: jobs[index].attempt, retryAfter: nil, using: &generator)
      jobs[index].due = now.addingTimeInterval(delay.seconds)
    }
  }

  @Test(
    "a night without network fails none of 200 jobs, storms nobody, and ends soon after", arguments: [3600, 8 * 3600])
  func outage(_ length: Int) {
    var world = World(jobs: 200)
    var early = 0
    var late = 0
    for second in 0..<length {
      let attempts = world.second(isReachable: false)
      if second < 120 { early += attempts } else { late += attempts }
    }
    // The tries of the first few were once spent for all: some failed within the hour.
    #expect(!world.jobs.contains { $0.hasFailed })
    #expect(world.mostAttempts < world.maximumAttempts, "\(world.mostAttempts)")
    // In the first minutes 8 at a time as ever, each by its own growing delays; then one job probes every half minute.
    #expect(early <= 200 * 10, "\(early)")
    #expect(late <= length / Int(OriginGovernor.probeInterval) + 2, "\(late)")
    var seconds = 0
    while world.jobs.contains(where: { !$0.isDone }), seconds < 3600 {
      _ = world.second(isReachable: true)
      seconds += 1
    }
    // Nobody waits longer than its own delay: five minutes.
    #expect(seconds < 400, "\(seconds) s")
  }

  @Test("a single job at a server that is gone fails by its own twenty tries, not sooner than they take")
  func alone() {
    var world = World(jobs: 1)
    var seconds = 0
    while !world.jobs[0].hasFailed, seconds < 86_400 {
      _ = world.second(isReachable: false)
      seconds += 1
    }
    #expect(world.jobs[0].hasFailed && world.jobs[0].attempt == 20)
    #expect(seconds > 300, "\(seconds) s")
  }
}
