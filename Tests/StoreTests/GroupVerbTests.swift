import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

/// Verbs on a batch, a state or all jobs, compared with the same verbs on one job after the other.
@Suite struct GroupVerbTests {
  /// Jobs of all kinds in all states, and a second owner's.
  private func mixed() async throws -> Fixture {
    let fixture = try Fixture()
    var n = 0
    for state in JobState.allCases {
      for batch in ["a", "b", nil] {
        n += 1
        _ = try await fixture.job(n, in: state, batch: batch)
      }
    }
    // A line of uploads, an upload with an unknown outcome, secrets, a second owner, and two failed jobs for one file.
    var specs = (0..<4).map { UploadLineTests.upload("/line\($0)") }
    var secret = Fixture.spec(100)
    secret.credentials = .init(username: "u", password: "p")
    var other = Fixture.spec(101)
    other.owner = 41_002
    specs += [secret, other]
    for index in specs.indices { specs[index].batch = "a" }
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    for _ in 0..<2 {
      var spec = Fixture.spec(200)
      spec.batch = "a"
      let record = try await fixture.claim(fixture.add(spec))
      try await fixture.settle(record, .fail) { $0.failure = Fixture.failure }
    }
    var upload = UploadLineTests.upload("/unknown", to: "https://h/unknown")
    upload.batch = "a"
    let record = try await fixture.claim(fixture.add(upload))
    try await fixture.settle(record, .fail) { settlement in
      settlement.failure = JobFailure(code: .outcomeUnknown, message: "unknown", transient: false)
      settlement.resumeData = .set(Data("{}".utf8))
    }
    return fixture
  }

  private static let selections: [JobSelection] = [
    .batch(BatchID(owner: Fixture.owner, name: "a")), .batch(BatchID(owner: Fixture.owner, name: "none")), .all,
    .state(.queued), .state(.failed), .state(.completed), .state(.running),
  ]

  @Test(
    "a verb on many jobs does what it does to each of them, and leaves the same events", arguments: JobVerb.allCases,
    selections)
  func same(verb: JobVerb, selection: JobSelection) async throws {
    let (group, single) = (try await mixed(), try await mixed())
    let scope = Scope.owner(Fixture.owner)
    func one(_ fixture: Fixture, _ ids: [JobID]) async -> Int {
      guard let event = verb.event else {
        return await fixture.store.remove(ids, in: scope, at: Fixture.at(50)).count { $0.failure == nil }
      }
      return await fixture.store.transition(ids, event, in: scope, at: Fixture.at(50), reason: "why")
        .count { (try? $0.get()).map { $0 != (try? $0.applying(event)) } ?? false }
    }
    let before = group.events.count
    let all = try await single.store.ids(matching: selection, limit: .max, in: scope)
    let changedSingly = await one(single, all)
    let outcome = try await group.store.apply(verb, toAll: selection, in: scope, at: Fixture.at(50), reason: "why")
    // Running jobs, and those that need more than their row, are left to the caller.
    let changedLater = await one(group, outcome.others)
    #expect(outcome.changed + changedLater == changedSingly)
    #expect(outcome.changed + outcome.skipped + outcome.others.count == all.count)
    let (found, expected) = (try await group.store.jobs(limit: .max), try await single.store.jobs(limit: .max))
    #expect(found.map(\.job) == expected.map(\.job))
    #expect(
      found.map(\.blockedBy) == expected.map(\.blockedBy) && found.map(\.crashMarks) == expected.map(\.crashMarks))
    func history(_ fixture: Fixture) async throws -> [Event] {
      var events = try await fixture.store.events(since: Int64(before), limit: 1000)
      for index in events.indices { events[index].seq = 0 }
      return events.sorted { $0.job < $1.job }
    }
    #expect(try await history(group) == history(single))
    // What was published is what is stored.
    #expect(group.events == (try await group.store.events(since: 0, limit: 10_000)))
    try await StateSumsTests.expectTrueSums(group)
  }

  @Test("a running job is left to the caller, and only if the verb stops it", arguments: JobVerb.allCases)
  func running(verb: JobVerb) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: .running)
    let outcome = try await fixture.store.apply(verb, toAll: .all, in: .everything, at: Fixture.at(5))
    let stops = verb == .pause || verb == .cancel || verb == .remove
    #expect(outcome.others == (stops ? [id] : []) && outcome.skipped == (stops ? 0 : 1) && outcome.changed == 0)
    #expect(try await fixture.record(id).job.state == .running)
  }

  @Test("jobs of other owners are not reached, and a daemon's user reaches all")
  func owners() async throws {
    let fixture = try Fixture()
    var specs = (1...4).map { Fixture.spec($0) }
    for index in 2...3 { specs[index].owner = 41_002 }
    let ids = try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
    let first = try await fixture.store.apply(.pause, toAll: .all, in: .owner(41_002), at: Fixture.at(1))
    #expect(first.changed == 2)
    let other = BatchID(owner: Fixture.owner, name: "b")
    let none = try await fixture.store.apply(.pause, toAll: .batch(other), in: .owner(41_002), at: Fixture.at(1))
    #expect(none == GroupVerbOutcome())
    #expect(try await fixture.store.records(ids).map(\.job.state) == [.queued, .queued, .paused, .paused])
    let all = try await fixture.store.apply(.pause, toAll: .all, in: .everything, at: Fixture.at(1))
    #expect(all.changed == 2 && all.skipped == 2)
  }

  @Test("thousands of jobs are changed in several transactions, beside which others work")
  func steps() async throws {
    let fixture = try Fixture()
    let count = Store.verbStep * 2 + 100
    let specs = (0..<count).map { n -> JobSpec in
      var spec = Fixture.spec(n)
      spec.batch = "b"
      return spec
    }
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    let batch = JobSelection.batch(BatchID(owner: Fixture.owner, name: "b"))
    let groups = fixture.groups.count
    for verb in [JobVerb.pause, .resume, .cancel, .retry, .remove] {
      async let beside = fixture.store.submit([Fixture.spec(count + Int.random(in: 0...1_000_000))], at: Fixture.epoch)
      let outcome = try await fixture.store.apply(verb, toAll: batch, in: .everything, at: Fixture.at(1))
      #expect(outcome.changed == count && outcome.skipped == 0 && outcome.others.isEmpty, "\(verb)")
      _ = await beside
    }
    #expect(fixture.groups.count >= groups + 15)
    #expect(try await fixture.store.batch("b")?.batch.counts == StateCounts())
    try await StateSumsTests.expectTrueSums(fixture)
  }

  @Test("every statement uses an index", arguments: JobVerb.allCases)
  func plans(verb: JobVerb) async throws {
    let fixture = try Fixture()
    let group = GroupVerb(verb: verb)
    let statements = [true, false].flatMap { inBatch in
      [group.rows(inBatch: inBatch), GroupVerb.count(inBatch: inBatch)]
        + JobState.allCases.map { group.others(inBatch: inBatch, state: $0) }
    }
    for sql in statements + [group.change, GroupVerb.queuedAmong] {
      let plan = try await fixture.plan(of: sql)
      for step in plan where step.contains("job") || step.contains("next") || step.contains("other") {
        #expect(step.contains("INDEX") || step.contains("PRIMARY KEY"), "\(verb): \(plan)")
      }
    }
  }
}
