import Foundation
import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct PlanSimulationTests {
  private static let now = Date(timeIntervalSince1970: 1_780_000_000)
  private static let origin = "https://h:443"

  private func queue(
    maxActive: Int = 1, perOrigin: Int = 100, running: [JobID] = [], batches: [BatchID: Int] = [:]
  ) -> JobQueue {
    var admission = Admission(maxActive: maxActive, maxPerOrigin: .fixed(perOrigin))
    admission.batches = batches
    var queue = JobQueue(limits: .init(admission: admission), governor: OriginGovernor(now: Self.now))
    _ = queue.handle(.jobsChanged, now: Self.now)
    let claims = running.map { JobQueueEvent.Claim(job: $0, origin: Self.origin, fence: 1) }
    _ = queue.handle(.turned(.init(claimed: claims)), now: Self.now)
    return queue
  }

  /// A waiting job of so many bytes.
  private func job(
    _ id: Int64, _ bytes: Int64?, priority: Int = 0, batch: String? = nil, origin: String = origin,
    retryIn seconds: Double? = nil, obstacles: [PlannedJob.Obstacle] = [],
    _ change: (inout WaitFacts) -> Void = { _ in }
  ) -> PlannedJob {
    let job = Job(
      id: JobID(id), kind: .download, state: seconds == nil ? .queued : .retrying, source: "https://h/a",
      destination: "/a", bytesTotal: bytes, maxAttempts: 1, retryAt: seconds.map { Self.now + $0 }, priority: priority,
      batch: batch, createdAt: Self.now)
    var facts = WaitFacts(origin: origin, batch: batch.map { BatchID(owner: 1, name: $0) })
    change(&facts)
    return PlannedJob(job: job, owner: 1, facts: facts, obstacles: obstacles)
  }

  /// Seconds from now to the start and the end of each job; `nil` where that is unknown.
  private func times(
    _ queue: JobQueue, _ jobs: [PlannedJob], running: [JobID: Double?] = [:], unfinished: [BatchID: Int] = [:],
    rates: [String: Double] = [origin: 100], typical: Double? = nil
  ) -> [JobID: [Double?]] {
    let sorted = jobs.sorted { ($1.job.priority, $0.job.id) < ($0.job.priority, $1.job.id) }
    var simulation = PlanSimulation(
      queue, PlanFacts(jobs: sorted, unfinished: unfinished), running: running,
      .init(rates: rates, typicalBytes: typical), now: Self.now, local: RateTimetableTests.berlin)
    return simulation.run().mapValues { expectation in
      [expectation.start?.timeIntervalSince(Self.now), expectation.end?.timeIntervalSince(Self.now)]
    }
  }

  @Test("jobs begin one after the other, the highest priority first, at the rate of their origin")
  func order() {
    let times = times(queue(), [job(1, 1000), job(2, 500), job(3, 200, priority: 5)])
    #expect(times == [3: [0, 2], 1: [2, 12], 2: [12, 17]])
  }

  @Test("a job is not faster than its own limit, and what is behind it waits accordingly")
  func ownLimit() {
    var slow = job(1, 1000)
    slow.limitRate = 50
    #expect(times(queue(), [slow, job(2, 100)]) == [1: [0, 20], 2: [20, 21]])
    #expect(times(queue(), [slow], rates: [:]) == [1: [0, 20]])
    slow.limitRate = 1000
    #expect(times(queue(), [slow]) == [1: [0, 10]])
  }

  @Test("what runs already is awaited, and the limits of the daemon, of origins and of batches hold")
  func limits() {
    let running = queue(maxActive: 2, running: [90])
    #expect(times(running, [job(1, 100), job(2, 100)], running: [90: 10]) == [1: [0, 1], 2: [1, 2]])
    let other = "https://o:443"
    let perOrigin = times(
      queue(maxActive: 9, perOrigin: 1), [job(1, 100), job(2, 100), job(3, 400, origin: other)],
      rates: [Self.origin: 100, other: 200])
    #expect(perOrigin == [1: [0, 1], 2: [1, 2], 3: [0, 2]])
    let batch = BatchID(owner: 1, name: "b")
    let perBatch = times(
      queue(maxActive: 9, batches: [batch: 1]), [job(1, 100, batch: "b"), job(2, 100, batch: "b"), job(3, 100)])
    #expect(perBatch == [1: [0, 1], 2: [1, 2], 3: [0, 1]])
  }

  @Test("a job of higher priority takes the slot of a transfer that can be resumed, which continues with its rest")
  func preemption() {
    var running = queue()
    let claim = JobQueueEvent.Claim(job: 90, origin: Self.origin, owner: 1, fence: 1, isResumable: true)
    _ = running.handle(.turned(.init(claimed: [claim])), now: Self.now)
    let urgent = job(1, 100, priority: 5)
    #expect(times(running, [urgent, job(95, 100)], running: [90: 10]) == [1: [0, 1], 95: [11, 12]])
    // It has not completed when it gives up its slot.
    let after = times(running, [urgent, job(2, 100, obstacles: [.job(90)])], running: [90: 10])
    #expect(after == [1: [0, 1], 2: [11, 12]])
    // One that cannot be resumed keeps its slot.
    let kept = times(queue(running: [90]), [urgent, job(95, 100)], running: [90: 10])
    #expect(kept == [1: [10, 11], 95: [11, 12]])
  }

  @Test("no job is expected to begin before the quota's next day")
  func quota() {
    var full = queue()
    _ = full.handle(.quotaUsedUp(until: Self.now + 60), now: Self.now)
    #expect(times(full, [job(1, 100)]) == [1: [60, 61]])
  }

  @Test("start times, retries and windows are kept")
  func clock() throws {
    // 1780000000 is 28 May 2026, 22:26:40 in Berlin.
    let window = try DailyWindow(parsing: "22:30-06:00")
    let times = times(
      queue(maxActive: 9),
      [
        job(1, 100) { $0.waitsUntil = Self.now + 60 }, job(2, 100, retryIn: 30), job(3, 100) { $0.window = window },
        job(4, 100),
      ])
    #expect(times == [1: [60, 61], 2: [30, 31], 3: [200, 201], 4: [0, 1]])
  }

  @Test("jobs after other jobs and batches begin when these are expected to have ended")
  func obstacles() {
    let batch = BatchID(owner: 1, name: "b")
    let times = times(
      queue(maxActive: 9),
      [
        job(1, 300), job(2, 100, obstacles: [.job(1)]), job(3, 200, batch: "b"), job(4, 500, batch: "b"),
        job(5, 100, obstacles: [.batch(batch), .job(2)]), job(6, 100, obstacles: [.job(77)]),
      ], unfinished: [batch: 2])
    #expect(times == [1: [0, 3], 2: [3, 4], 3: [0, 2], 4: [0, 5], 5: [5, 6], 6: [nil, nil]])
    // A paused job of the batch does not end.
    let paused = self.times(
      queue(maxActive: 9), [job(1, 100, batch: "b"), job(2, 100, obstacles: [.batch(batch)])], unfinished: [batch: 2])
    #expect(paused == [1: [0, 1], 2: [nil, nil]])
  }

  @Test("an unknown size has no end; what comes behind it has a time if the length of other files is known")
  func unknown() {
    let jobs = [job(1, nil), job(2, 100)]
    #expect(times(queue(), jobs) == [1: [0, nil], 2: [nil, nil]])
    #expect(times(queue(), jobs, typical: 400) == [1: [0, nil], 2: [4, 5]])
    #expect(times(queue(), jobs, rates: [:], typical: 400) == [1: [0, nil], 2: [nil, nil]])
    // A transfer of unknown length runs.
    #expect(times(queue(running: [90]), [job(2, 100)], running: [90: nil]) == [2: [nil, nil]])
  }

  @Test("a job that runs alone begins when nothing else can")
  func alone() {
    let times = times(queue(maxActive: 9), [job(1, 100) { $0.runsAlone = true }, job(2, 300), job(3, 100)])
    #expect(times == [1: [3, 4], 2: [0, 3], 3: [0, 1]])
  }

  @Test("the plan of 10,000 jobs is bounded in its work, also if most of them cannot start")
  func many() {
    let jobs = (1...Int64(PlanSimulation.maximumJobs)).map { id in
      job(id, 100, origin: id > 3000 ? "https://crowd:443" : Self.origin)
    }
    var queue = queue(maxActive: 64, perOrigin: 8)
    _ = queue.governor.close("https://crowd:443", for: .seconds(3600), now: Self.now)
    let times = times(queue, jobs, rates: [Self.origin: 100])
    #expect(times.count == jobs.count)
    #expect(times[1] == [0, 1] && times[3000]?[0] == 374)
    #expect(times[3001]?[0].map { $0 >= 3600 } == true)
  }
}
