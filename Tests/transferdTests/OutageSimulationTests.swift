import FoundationEssentials
import Testing
import TransferAPI
import TransferEngine

@testable import Store
@testable import transferd

/// Simulates outages with the retry policies and a simulated clock, to count the attempts that they cost.
@Suite struct OutageSimulationTests {
  private struct Waiting {
    var attempt = 0
    var due: Date
    var hasFailed = false
    var isDone = false
  }

  /// The simulation runs second by second: due jobs ask for a slot, and each attempt ends at once.
  private struct World {
    var now = Date(timeIntervalSince1970: 1_000_000)
    var governor: OriginGovernor
    var jobs: [Waiting]
    var generator: SystemRandomNumberGenerator = .init()
    let admission = Admission(maxActive: 16, maxPerOrigin: .fixed(8))
    let maximumAttempts = 20
    var mostAttempts: Int { jobs.map(\.attempt).max() ?? 0 }
    static let origin = "http://h:80"

    init(jobs count: Int) {
      governor = OriginGovernor(now: now)
      jobs = Array(repeating: Waiting(due: now), count: count)
    }

    /// - Returns: the number of attempts.
    mutating func second(isReachable: Bool) -> Int {
      defer { now = now.addingTimeInterval(1) }
      var window = CandidateWindow(
        jobs.indices.filter { !jobs[$0].isDone && !jobs[$0].hasFailed && jobs[$0].due <= now }
          .map { Candidate(id: JobID(Int64($0)), origin: Self.origin, priority: 0) })
      guard !governor.isClosed(Self.origin, now: now) else { return 0 }
      let capacity = governor.capacity(of: Self.origin, now: now)
      let picked = admission.pick(
        from: &window, load: .init(), capacity: { _ in capacity }, lastProbes: governor.lastProbes(now: now))
      for id in picked { attempt(Int(id.rawValue), isReachable: isReachable) }
      return picked.count
    }

    private mutating func attempt(_ index: Int, isReachable: Bool) {
      jobs[index].attempt += 1
      guard !isReachable else {
        governor.recordResponse(from: Self.origin, now: now)
        jobs[index].isDone = true
        return
      }
      governor.recordConnectionFailure(to: Self.origin, by: JobID(Int64(index)), now: now)
      jobs[index].hasFailed = jobs[index].attempt >= maximumAttempts
      let delay = AttemptVerdict.policy.delay(
        forAttempt: jobs[index].attempt, retryAfter: nil, using: &generator)
      jobs[index].due = now.addingTimeInterval(delay.seconds)
    }
  }

  @Test(
    "a night without network fails none of 200 jobs, causes no burst of attempts, and the jobs end soon after",
    arguments: [3600, 8 * 3600])
  func outage(_ length: Int) {
    var world = World(jobs: 200)
    var early = 0
    var late = 0
    for second in 0..<length {
      let attempts = world.second(isReachable: false)
      if second < 120 { early += attempts } else { late += attempts }
    }
    // Regression: the first few jobs once made all attempts, and some failed within the hour.
    #expect(!world.jobs.contains { $0.hasFailed })
    #expect(world.mostAttempts < world.maximumAttempts, "\(world.mostAttempts)")
    // In the first minutes 8 jobs run at a time, each with growing delays. Then one job probes every half minute.
    #expect(early <= 200 * 10, "\(early)")
    #expect(late <= length / Int(OriginGovernor.probeInterval) + 2, "\(late)")
    var seconds = 0
    while world.jobs.contains(where: { !$0.isDone }), seconds < 3600 {
      _ = world.second(isReachable: true)
      seconds += 1
    }
    // No job waits longer than its own delay of five minutes.
    #expect(seconds < 400, "\(seconds) s")
  }

  @Test("a single job at an unreachable server fails after its twenty attempts, and not earlier")
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
