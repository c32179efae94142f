import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

/// Jobs that wait for other jobs and for batches.
@Suite struct DependencyTests {
  private func spec(_ n: Int, after: [JobDependency] = [], batch: String? = nil, owner: UInt32 = Fixture.owner)
    -> JobSpec
  {
    var spec = Fixture.spec(n)
    spec.owner = owner
    spec.options.schedule.after = after
    spec.batch = batch
    return spec
  }

  private func candidates(_ fixture: Fixture) async throws -> [JobID] {
    try await fixture.store.candidates(now: Fixture.at(5), excludingOrigins: [], limit: 10).map(\.id)
  }

  @discardableResult
  private func resolve(_ fixture: Fixture, wantsHook: Bool = false) async throws -> DependencyChanges {
    try await fixture.store.resolveDependencies(at: Fixture.at(9), wantsHook: wantsHook)
  }

  private func complete(_ fixture: Fixture, _ id: JobID) async throws {
    try await fixture.settle(fixture.claim(id), .complete)
  }

  private func failure(_ spec: JobSpec, in scope: Scope = .everything, _ fixture: Fixture) async -> StoreError? {
    await fixture.store.submit([spec], in: scope, at: Fixture.epoch)[0].failure
  }

  @Test("a job begins when all that it waits for has completed")
  func all() async throws {
    let fixture = try Fixture()
    let first = try await fixture.add(spec(1))
    let second = try await fixture.add(spec(2, batch: "b"))
    let last = try await fixture.add(spec(3, after: [.job(first), .batch("b"), .job(first)]))
    #expect(try await fixture.store.hasDependencies())
    #expect(try await resolve(fixture) == DependencyChanges())
    #expect(try await candidates(fixture) == [first, second])
    let record = try await fixture.record(last)
    #expect(record.openDependencies == 2 && record.firstDependency == .job(first))
    #expect(try await fixture.store.claim([last], at: Fixture.at(1)).isEmpty)
    try await complete(fixture, first)
    #expect(try await resolve(fixture) == DependencyChanges(completed: 1))
    #expect(try await fixture.record(last).firstDependency == .batch("b"))
    // Later additions count, and so does what is added and ends before the batch has ended.
    let third = try await fixture.add(spec(4, batch: "b"))
    try await complete(fixture, second)
    #expect(try await resolve(fixture) == DependencyChanges())
    try await complete(fixture, third)
    #expect(try await resolve(fixture) == DependencyChanges(completed: 1))
    #expect(try await candidates(fixture) == [last])
    #expect(try await !fixture.store.hasDependencies())
  }

  @Test(
    "a job fails with what it waits for, keeps its start time, and a retry looks again",
    arguments: [JobState.failed, .cancelled], [false, true])
  func failed(_ state: JobState, _ isBatch: Bool) async throws {
    let fixture = try Fixture()
    let first = try await fixture.job(1, in: .queued, batch: "b")
    var dependent = spec(2, after: [isBatch ? .batch("b") : .job(first)])
    dependent.options.schedule.notBefore = Fixture.at(4)
    let waiting = try await fixture.add(dependent)
    let paused = try await fixture.add(spec(3, after: [.job(waiting)]))
    _ = await fixture.store.transition([paused], .pause, at: Fixture.epoch)
    if state == .failed {
      try await fixture.settle(fixture.claim(first), .fail) { $0.failure = Fixture.failure }
    } else {
      _ = await fixture.store.transition([first], .cancel, at: Fixture.at(2))
    }
    let changes = try await resolve(fixture, wantsHook: true)
    #expect(changes.completed == 0 && changes.failed == [waiting, paused])
    let job = try await fixture.record(waiting).job
    #expect(job.state == .failed && job.error?.code == .dependency && job.error?.transient == false)
    #expect(job.error?.message.contains("job \(first)") == true, "\(job.error?.message ?? "")")
    #expect(try await fixture.store.pendingHooks(after: 0, limit: 10).count == 2)
    #expect(try await fixture.store.counts() == fixture.countedByHand()[""])
    #expect(try await fixture.store.applyDueTimes(at: Fixture.at(3), wantsHook: false).next == Fixture.at(4))
    // Nothing has changed: it fails again.
    _ = await fixture.store.transition([waiting], .retry, at: Fixture.at(10))
    #expect(try await resolve(fixture).failed == [waiting])
    // By a verb on a group, after the first job runs again: it waits again.
    _ = await fixture.store.transition([first], .retry, at: Fixture.at(11))
    _ = try await fixture.store.apply(.retry, toAll: .all, in: .everything, at: Fixture.at(12))
    #expect(try await resolve(fixture) == DependencyChanges())
    #expect(try await fixture.store.records([waiting, paused]).map(\.job.state) == [.queued, .queued])
    try await complete(fixture, first)
    #expect(try await resolve(fixture).completed == 1)
    _ = try await fixture.store.applyDueTimes(at: Fixture.at(4), wantsHook: false)
    #expect(try await candidates(fixture) == [waiting])
  }

  @Test("a removed job fails its dependents unless it had completed; a removed job of a batch no longer counts")
  func removed() async throws {
    let fixture = try Fixture()
    let completed = try await fixture.job(1, in: .queued)
    let unfinished = try await fixture.job(2, in: .queued)
    let member = try await fixture.job(3, in: .queued, batch: "b")
    let afterCompleted = try await fixture.add(spec(4, after: [.job(completed)]))
    let afterUnfinished = try await fixture.add(spec(5, after: [.job(unfinished)]))
    let afterBatch = try await fixture.add(spec(6, after: [.batch("b")]))
    try await complete(fixture, completed)
    // Before anything was looked at.
    for result in await fixture.store.remove([completed, unfinished, member], at: Fixture.at(3)) { try result.get() }
    let changes = try await resolve(fixture)
    #expect(changes.failed == [afterUnfinished] && changes.completed == 2)
    #expect(try await candidates(fixture) == [afterCompleted, afterBatch])
    #expect(try await fixture.record(afterUnfinished).job.error?.message.contains("was removed") == true)
    // What has completed counts also after a retry; what was removed does not come back.
    _ = await fixture.store.transition([afterCompleted], .cancel, at: Fixture.at(4))
    _ = await fixture.store.transition([afterCompleted, afterUnfinished], .retry, at: Fixture.at(5))
    #expect(try await resolve(fixture).failed == [afterUnfinished])
    #expect(try await candidates(fixture) == [afterCompleted, afterBatch])
  }

  @Test("what has ended already counts when the job is added")
  func ended() async throws {
    let fixture = try Fixture()
    let completed = try await fixture.job(1, in: .completed, batch: "done")
    let failed = try await fixture.job(2, in: .failed)
    let ready = try await fixture.add(spec(3, after: [.job(completed)]))
    let afterBatch = try await fixture.add(spec(4, after: [.batch("done")]))
    let hopeless = try await fixture.add(spec(5, after: [.job(failed)]))
    #expect(try await candidates(fixture) == [ready])
    let changes = try await resolve(fixture)
    #expect(changes.failed == [hopeless] && changes.completed == 1)
    #expect(try await candidates(fixture) == [ready, afterBatch])
  }

  @Test("unknown jobs and batches, and those of other users, do not exist")
  func unknown() async throws {
    let fixture = try Fixture()
    let (member, other): (UInt32, UInt32) = (41_001, 41_002)
    let theirs = try await fixture.add(spec(1, batch: "b", owner: other))
    #expect(await failure(spec(2, after: [.job(99)]), fixture) == .notFound(99))
    #expect(await failure(spec(2, after: [.batch("x")], batch: "new"), fixture) == .noSuchBatch("x"))
    // A refused job makes no batch.
    #expect(try await fixture.store.batches(in: .everything).map(\.name) == ["b"])
    let scope = Scope.owner(member)
    #expect(await failure(spec(2, after: [.job(theirs)], owner: member), in: scope, fixture) == .notFound(theirs))
    #expect(await failure(spec(2, after: [.batch("b")], owner: member), in: scope, fixture) == .noSuchBatch("b"))
    #expect(await failure(spec(2, after: [.batch("b")]), fixture) == nil)
    try await fixture.add(spec(3, batch: "b", owner: member))
    #expect(await failure(spec(4, after: [.batch("b")]), fixture) == .ambiguousBatch("b", owners: [member, other]))
  }

  @Test("a cycle through batches is refused, and only that")
  func cycles() async throws {
    let fixture = try Fixture()
    let inA = try await fixture.add(spec(1, batch: "a"))
    let afterA = try await fixture.add(spec(2, after: [.batch("a")], batch: "b"))
    #expect(await failure(spec(3, after: [.batch("a")], batch: "a"), fixture) == .dependencyCycle(batch: "a"))
    #expect(await failure(spec(3, after: [.job(afterA)], batch: "a"), fixture) == .dependencyCycle(batch: "a"))
    #expect(await failure(spec(3, after: [.batch("b")], batch: "a"), fixture) == .dependencyCycle(batch: "a"))
    let afterB = try await fixture.add(spec(4, after: [.batch("b")]))
    let last = try await fixture.add(spec(5, after: [.job(afterB)], batch: "c"))
    #expect(await failure(spec(6, after: [.job(last)], batch: "a"), fixture) == .dependencyCycle(batch: "a"))
    #expect(await failure(spec(6, after: [.batch("c")], batch: "b"), fixture) == .dependencyCycle(batch: "b"))
    // In the same batch, after a job of it, and after jobs that wait for nothing of the batch.
    #expect(await failure(spec(6, after: [.job(inA)], batch: "a"), fixture) == nil)
    #expect(await failure(spec(7, after: [.job(last)], batch: "c"), fixture) == nil)
    #expect(await failure(spec(8, after: [.batch("a"), .batch("b"), .batch("c")]), fixture) == nil)
  }

  @Test("the search for a cycle is bounded")
  func boundedSearch() async throws {
    let fixture = try Fixture()
    let other = try await fixture.add(spec(1))
    try await fixture.add(spec(2, batch: "a"))
    let count = Transaction.maximumCycleSearch + 1
    _ = await fixture.store.submit((3..<3 + count).map { spec($0, after: [.batch("a")]) }, at: Fixture.epoch)
    #expect(await failure(spec(90_000, after: [.job(other)], batch: "a"), fixture) == .tooManyDependents(batch: "a"))
    #expect(await failure(spec(90_000, batch: "a"), fixture) == nil)
  }

  @Test("a chain of 20,000 jobs fails to its end, in bounded transactions, also if the daemon ends in between")
  func chain() async throws {
    let directory = Fixture.temporaryDirectory()
    let count = 20_000
    var fixture = try Fixture(directory: directory)
    let first = try await fixture.add(spec(1))
    var next = Int64(first.rawValue)
    for start in stride(from: 2, through: count, by: 2000) {
      let specs = (start..<min(start + 2000, count + 1)).map { n -> JobSpec in
        defer { next += 1 }
        return spec(n, after: [.job(JobID(next))])
      }
      for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    }
    try await fixture.settle(fixture.claim(first), .fail) { $0.failure = Fixture.failure }
    // The daemon ends after some transactions: the rest is found at the next start.
    let task = Task { [store = fixture.store] in
      try? await store.resolveDependencies(at: Fixture.at(9), wantsHook: false)
    }
    while try await fixture.store.counts()[.failed] < 2 { await Task.yield() }
    let copy = directory + "-copy"
    await fixture.store.close()
    _ = await task.value
    try FileManager.default.copyItem(atPath: directory, toPath: copy)
    fixture = try Fixture(directory: copy)
    let before = try await fixture.store.counts()[.failed]
    #expect(before >= 1 && (before - 1).isMultiple(of: Store.dependencyStep / 2) || before == count)
    #expect(try await resolve(fixture).failed.count == count - before)
    #expect(try await fixture.store.counts()[.failed] == count)
    #expect(try await fixture.store.counts() == fixture.countedByHand()[""])
  }

  @Test("thousands of jobs that wait for one job are released in one call")
  func fan() async throws {
    let fixture = try Fixture()
    let first = try await fixture.add(spec(1))
    _ = await fixture.store.submit((2...3001).map { spec($0, after: [.job(first)]) }, at: Fixture.epoch)
    #expect(try await candidates(fixture) == [first])
    try await complete(fixture, first)
    #expect(try await resolve(fixture).completed == 3000)
    #expect(try await fixture.store.candidates(now: Fixture.at(5), excludingOrigins: [], limit: 5000).count == 3000)
  }
}
