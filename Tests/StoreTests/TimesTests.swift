import Foundation
import Testing
import TransferAPI

@testable import Store

/// Start times, deadlines, and since when a job has failed.
@Suite struct TimesTests {
  private func spec(_ n: Int, notBefore: Double? = nil, deadline: Double? = nil) -> JobSpec {
    var spec = Fixture.spec(n)
    spec.options.schedule.notBefore = notBefore.map(Fixture.at)
    spec.options.schedule.deadline = deadline.map(Fixture.at)
    return spec
  }

  private func candidates(_ fixture: Fixture, at seconds: Double) async throws -> [JobID] {
    try await fixture.store.candidates(now: Fixture.at(seconds), excludingOrigins: [], limit: 10).map(\.id)
  }

  private func due(_ fixture: Fixture, at seconds: Double, wantsHook: Bool = false) async throws -> DueJobs {
    try await fixture.store.applyDueTimes(at: Fixture.at(seconds), wantsHook: wantsHook)
  }

  @Test("a job with a start time is no candidate before, also after a restart")
  func startTime() async throws {
    let directory = Fixture.temporaryDirectory()
    do {
      let fixture = try Fixture(directory: directory)
      try await fixture.add(spec(1, notBefore: 60))
      try await fixture.add(spec(2, notBefore: -1))
      #expect(try await candidates(fixture, at: 100) == [2])
      #expect(try await fixture.store.claim([1], at: Fixture.at(100)).isEmpty)
      #expect(try await fixture.record(1).waitsUntil == Fixture.at(60))
      await fixture.store.close()
      // The directory goes with the fixture.
      try FileManager.default.copyItem(atPath: directory, toPath: directory + "-copy")
    }
    let fixture = try Fixture(directory: directory + "-copy")
    #expect(try await due(fixture, at: 59) == DueJobs(next: Fixture.at(60)))
    #expect(try await due(fixture, at: 60) == DueJobs(released: 1))
    #expect(try await candidates(fixture, at: 60) == [1, 2])
    #expect(try await fixture.record(1).waitsUntil == nil)
    // The start time is still shown among the options.
    #expect(try await fixture.record(1).spec.options.schedule.notBefore == Fixture.at(60))
  }

  @Test("more jobs than one transaction takes are released in one call")
  func manyAtOnce() async throws {
    let fixture = try Fixture()
    let results = await fixture.store.submit((1...4500).map { spec($0, notBefore: 10) }, at: Fixture.epoch)
    #expect(results.allSatisfy { $0.failure == nil })
    #expect(try await due(fixture, at: 10) == DueJobs(released: 4500))
  }

  @Test("a deadline fails jobs that do not run, keeps their bytes, and names the ones that run")
  func deadline() async throws {
    let fixture = try Fixture()
    let queued = try await fixture.add(spec(1, deadline: 60))
    let paused = try await fixture.add(spec(2, deadline: 60))
    _ = await fixture.store.transition([paused], .pause, at: Fixture.epoch)
    let retrying = try await fixture.add(spec(3, deadline: 60))
    try await fixture.settle(try await fixture.claim(retrying), .postpone) { $0.retryDelay = .seconds(100) }
    let late = try await fixture.add(spec(4, notBefore: 50, deadline: 60))
    let running = try await fixture.add(spec(5, deadline: 60))
    let claimed = try await fixture.claim(running)
    let completed = try await fixture.add(spec(6, deadline: 60))
    try await fixture.settle(try await fixture.claim(completed), .complete)
    let other = try await fixture.add(spec(7, deadline: 90))

    #expect(try await due(fixture, at: 49).next == Fixture.at(50))
    let result = try await due(fixture, at: 60, wantsHook: true)
    #expect(Set(result.expired) == [queued, paused, retrying, late] && result.released == 1)
    #expect(result.running == [running] && result.next == Fixture.at(90))
    for id in result.expired {
      let job = try await fixture.record(id).job
      #expect(job.state == .failed && job.error?.code == .deadline && job.finishedAt == Fixture.at(60))
      #expect(try await fixture.record(id).spec.options.schedule.deadline == Fixture.at(60))
    }
    #expect(try await fixture.record(retrying).job.bytesDone == 10)
    #expect(try await fixture.record(completed).job.state == .completed)
    #expect(try await fixture.record(other).job.state == .queued)
    #expect(try await fixture.store.counts()[.failed] == 4)
    #expect(fixture.events.count { $0.error?.code == .deadline && $0.to == .failed } == 4)
    #expect(try await fixture.store.pendingHooks(after: 0, limit: 10).count == 4)
    // The running one is stopped and settled like any failure.
    try await fixture.settle(claimed, .fail) { $0.failure = .deadline(Fixture.at(60)) }
    #expect(try await due(fixture, at: 61) == DueJobs(next: Fixture.at(90)))
  }

  @Test(
    "after a retry a deadline that has passed no longer counts, and one that is to come does", arguments: [true, false])
  func retried(_ inGroup: Bool) async throws {
    let fixture = try Fixture()
    try await fixture.add(spec(1, deadline: 60))
    try await fixture.add(spec(2, deadline: 90))
    try await fixture.settle(try await fixture.claim(2), .fail)
    _ = try await due(fixture, at: 60)
    if inGroup {
      let outcome = try await fixture.store.apply(.retry, toAll: .all, in: .everything, at: Fixture.at(61))
      #expect(outcome.changed == 2)
    } else {
      let results = await fixture.store.transition([1, 2], .retry, at: Fixture.at(61))
      #expect(results.allSatisfy { $0.failure == nil })
    }
    #expect(try await due(fixture, at: 62) == DueJobs(next: Fixture.at(90)))
    #expect(try await due(fixture, at: 90).expired == [2])
    #expect(try await fixture.record(1).job.state == .queued)
    #expect(try await fixture.record(1).spec.options.schedule.deadline == nil)
  }

  @Test("an upload that missed its deadline no longer blocks the next one")
  func line() async throws {
    let fixture = try Fixture()
    var first = JobSpec(owner: Fixture.owner, uploading: "/a", to: "https://h/a", origin: "https://h:443")
    first.options.schedule.deadline = Fixture.at(60)
    let second = JobSpec(owner: Fixture.owner, uploading: "/b", to: "https://h/a", origin: "https://h:443")
    try await fixture.add(first)
    try await fixture.add(second)
    #expect(try await fixture.record(2).blockedBy == 1)
    #expect(try await due(fixture, at: 60).expired == [1])
    #expect(try await fixture.record(2).blockedBy == nil)
  }

  @Test("failures count from the first one since the last progress")
  func failingSince() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    func attempt(at seconds: Double, _ event: JobEvent, _ change: (inout Settlement) -> Void = { _ in }) async throws
      -> Date?
    {
      let record = try await fixture.claim(id, at: seconds)
      try await fixture.settle(record, event, at: seconds + 1, with: change)
      return try await fixture.record(id).failingSince
    }
    #expect(try await attempt(at: 10, .postpone) == Fixture.at(11))
    #expect(try await attempt(at: 20, .postpone) == Fixture.at(11))
    // A wait for space on the disk is no failure.
    #expect(try await attempt(at: 25, .postpone) { $0.isUncounted = true } == nil)
    #expect(try await attempt(at: 30, .postpone) { $0.resetAttempts = true } == Fixture.at(31))
    // The daemon was stopped: no progress.
    #expect(try await attempt(at: 40, .requeue) { $0.resetAttempts = true } == Fixture.at(31))
    #expect(try await attempt(at: 60, .postpone) == Fixture.at(31))
    for (event, seconds) in [(JobEvent.retry, 70.0), (.pause, 90)] {
      _ = await fixture.store.transition([id], event, at: Fixture.at(seconds))
      #expect(try await fixture.record(id).failingSince == nil)
      if event == .retry { #expect(try await attempt(at: 80, .postpone) == Fixture.at(81)) }
    }
  }
}
