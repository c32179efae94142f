import Foundation
import Store
import Testing
import TransferAPI

@testable import transferd

/// What `waiting` says. JobQueueSimulationTests compares it with what the queue does.
@Suite struct JobQueueWaitingTests {
  private static let now = Date(timeIntervalSince1970: 1_000_000)
  private static let origin = "https://h:443"

  private func queue(maxActive: Int = 4, running: Int = 0) -> JobQueue {
    var queue = JobQueue(
      limits: .init(admission: Admission(maxActive: maxActive, maxPerOrigin: .fixed(2))),
      governor: OriginGovernor(now: Self.now))
    _ = queue.handle(.jobsChanged, now: Self.now)
    let claims = (0..<running).map { JobQueueEvent.Claim(job: JobID(Int64(100 + $0)), origin: Self.origin, fence: 1) }
    _ = queue.handle(.turned(.init(claimed: claims)), now: Self.now)
    return queue
  }

  private func waiting(
    _ queue: JobQueue, retryIn seconds: Double? = nil, error: JobFailure.Code? = nil, maxAttempts: Int = 5,
    _ change: (inout WaitFacts) -> Void = { _ in }
  ) -> Waiting? {
    var job = Job(
      id: JobID(7), kind: .upload, state: seconds == nil ? .queued : .retrying, source: "/a",
      destination: "https://h/a",
      attempt: 2, maxAttempts: maxAttempts, retryAt: seconds.map(Self.now.addingTimeInterval), createdAt: Self.now)
    job.error = error.map { JobFailure(code: $0, message: "m", transient: true) }
    var facts = WaitFacts(origin: Self.origin)
    change(&facts)
    return queue.waiting(job, facts, now: Self.now)
  }

  @Test("a job that can start waits for nothing")
  func none() {
    #expect(waiting(queue()) == nil)
    #expect(waiting(queue(running: 1)) == nil)
    #expect(waiting(queue(), retryIn: 0) == nil)
    #expect(waiting(queue()) { $0.waitsUntil = Self.now } == nil)
  }

  @Test("a start time and an earlier upload come before everything else")
  func facts() {
    let time = Self.now + 60
    let late = waiting(queue(maxActive: 1, running: 1)) { $0.waitsUntil = time }
    #expect(late?.reason == .notBefore && late?.until == time)
    let blocked = waiting(queue(maxActive: 1, running: 1)) { $0.isBlocked = true }
    #expect(blocked?.reason == .blockedBy && blocked?.until == nil)
  }

  @Test("a closed window and unfinished jobs come before limits, and name the facts")
  func schedule() throws {
    let window = try DailyWindow(parsing: "22:00-06:00")
    var full = queue(maxActive: 1, running: 1)
    #expect(waiting(full) { $0.window = window }?.reason == .slot)
    _ = full.handle(.windowsChanged([window: Self.now + 60]), now: Self.now)
    let closed = waiting(full) { $0.window = window }
    #expect(closed == Waiting(.window, until: Self.now + 60, "its window 22:00-06:00 is closed"))
    #expect(waiting(full)?.reason == .slot)
    let after = waiting(full) {
      $0.openDependencies = 3
      $0.firstDependency = .batch("b")
    }
    #expect(after == Waiting(.after, "it begins after batch b and 2 more"))
    let one = waiting(full) {
      $0.openDependencies = 1
      $0.firstDependency = .job(5)
    }
    #expect(one == Waiting(.after, "it begins after job 5"))
  }

  @Test("limits are named with their numbers")
  func limits() {
    let full = waiting(queue(maxActive: 1, running: 1))
    #expect(full == Waiting(.slot, "1 transfer runs, as many as maxActive allows"))
    let origin = waiting(queue(running: 2))
    #expect(origin == Waiting(.origin, "2 transfers run with https://h:443, as many as maxPerOrigin allows"))
    #expect(waiting(queue(running: 2)) { $0.origin = "https://other:443" } == nil)
    #expect(waiting(queue(running: 1)) { $0.runsAlone = true }?.reason == .slot)
  }

  @Test("a limit that was lowered below what runs is named with both numbers")
  func lowered() {
    let slots = waiting(queue(maxActive: 1, running: 2))
    #expect(slots == Waiting(.slot, "2 transfers run; maxActive allows 1, so 2 have to end first"))
    let origin = waiting(queue(running: 3))
    #expect(
      origin == Waiting(.origin, "3 transfers run with https://h:443; maxPerOrigin allows 2, so 2 have to end first"))
  }

  @Test("a full batch is named, unless something else keeps the job from starting, too")
  func batches() {
    let batch = BatchID(owner: 1, name: "nightly")
    var queue = queue()
    _ = queue.handle(
      .turned(.init(claimed: [.init(job: JobID(1), origin: "https://other:443", batch: batch, fence: 1)])),
      now: Self.now)
    #expect(waiting(queue) { $0.batch = batch } == nil)
    var limits = queue.limits
    limits.admission.batches = [batch: 1]
    _ = queue.handle(.limitsChanged(limits), now: Self.now)
    let full = waiting(queue) { $0.batch = batch }
    #expect(full == Waiting(.batch, "1 transfer runs in the batch nightly, as many as its maxActive allows"))
    #expect(waiting(queue) { $0.batch = BatchID(owner: 2, name: "nightly") } == nil)
    #expect(waiting(queue) == nil)
    _ = queue.governor.close(Self.origin, for: .seconds(60), now: Self.now)
    #expect(waiting(queue) { $0.batch = batch }?.reason == .origin)
  }

  @Test("rules for origins: their maxActive, and their interval with its end")
  func rules() throws {
    var queue = queue(running: 1)
    var limits = queue.limits
    limits.admission.origins = OriginRules(rules: [OriginRule(match: try #require(OriginPattern("h")), maxActive: 1)])
    _ = queue.handle(.limitsChanged(limits), now: Self.now)
    #expect(
      waiting(queue) == Waiting(.origin, "1 transfer runs with https://h:443, as many as maxActive in origins allows"))
    limits.admission.origins.rules[0] = OriginRule(match: try #require(OriginPattern("h")), interval: .seconds(5))
    _ = queue.handle(.limitsChanged(limits), now: Self.now)
    #expect(waiting(queue) == nil)
    let claim = JobQueueEvent.Claim(job: JobID(50), origin: Self.origin, fence: 1)
    _ = queue.handle(.turned(.init(claimed: [claim])), now: Self.now)
    let paced = waiting(queue)
    #expect(paced?.reason == .origin && paced?.until == Self.now + 5, "\(paced as Any)")
  }

  @Test("a retry names its time and its cause; a server that has asked for a longer pause comes first")
  func retries() {
    let retry = waiting(queue(), retryIn: 30, error: .http(503))
    #expect(retry?.reason == .retry && retry?.until == Self.now + 30)
    #expect(retry?.detail == "the last attempt failed (http-503); attempt 3 of 5 follows")
    let timed = waiting(queue(), retryIn: 30, error: .http(503), maxAttempts: JobOptions.maximumAttempts)
    #expect(timed?.detail == "the last attempt failed (http-503); attempt 3 follows")
    #expect(waiting(queue(), retryIn: 30, error: .diskFull)?.reason == .disk)
    var closed = queue()
    _ = closed.governor.close(Self.origin, for: .seconds(60), now: Self.now)
    let paused = waiting(closed, retryIn: 30)
    #expect(paused?.reason == .origin && paused?.until == Self.now + 60)
    #expect(paused?.detail == "https://h:443 has asked for a pause (Retry-After)")
    #expect(waiting(closed)?.reason == .origin)
    #expect(waiting(closed, retryIn: 90)?.reason == .retry)
  }

  @Test("a missing interface is a wait for the network, with its message")
  func missingInterface() {
    let missing = waiting(queue(), retryIn: 30, error: .network)
    #expect(missing?.reason == .network && missing?.until == Self.now + 30)
    #expect(missing?.detail.hasPrefix("m; ") == true)
  }

  @Test("a quota that is used up holds up every job until its end, and then none")
  func quota() {
    var queue = queue()
    let actions = queue.handle(.quotaUsedUp(until: Self.now + 60), now: Self.now)
    #expect(actions.contains(.wakeAt(Self.now + 60)))
    let limit = waiting(queue)
    #expect(limit?.reason == .limit && limit?.until == Self.now + 60)
    // The search that was under way finds nothing.
    let search = JobQueueAction.Search(excludedOrigins: [], reopenTimes: [:], limit: 1)
    _ = queue.handle(.found([], search, wakeTime: nil), now: Self.now)
    #expect(queue.handle(.jobsChanged, now: Self.now + 1).contains(.wakeAt(Self.now + 60)))
    let later = queue.handle(.jobsChanged, now: Self.now + 60)
    #expect(later.contains { if case .search = $0 { true } else { false } })
    #expect(queue.quotaEnds == nil && waiting(queue) == nil)
  }

  @Test("an origin that cannot be reached says so")
  func unreachable() {
    var queue = queue()
    for second in 0..<16 {
      queue.governor.recordConnectionFailure(
        to: Self.origin, by: JobID(1), now: Self.now.addingTimeInterval(Double(second * 5 - 80)))
    }
    let waiting = waiting(queue)
    #expect(waiting?.reason == .origin && waiting?.detail.contains("cannot be reached") == true, "\(waiting as Any)")
  }
}

extension JobID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) { self.init(value) }
}
