import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct PruneTests {
  private let limit = Fixture.at(1000)

  /// All steps; what they deleted.
  private func prune(_ store: Store, olderThan limit: Date) async throws -> Int {
    var progress = PruneProgress()
    while !progress.isDone { progress = try await store.prune(progress, olderThan: limit) }
    return progress.deleted
  }

  private func attempts(_ store: Store, _ id: JobID) async throws -> [Int] {
    try await store.detail(id)?.attempts.map(\.number) ?? []
  }

  @Test("events and tries of a job that has ended go; those of others stay", arguments: JobState.allCases)
  func states(_ state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state)
    let before = try await fixture.store.events(since: 0, limit: 100)
    let tries = try await attempts(fixture.store, id)
    let deleted = try await prune(fixture.store, olderThan: limit)
    let left = try await fixture.store.events(since: 0, limit: 100)
    #expect(left == (state.isFinal ? [] : before))
    #expect(try await attempts(fixture.store, id) == (state.isFinal ? [] : tries))
    #expect(deleted == (state.isFinal ? before.count + tries.count : 0))
    // The job itself is no history.
    #expect(try await fixture.record(id).job.state == state)
  }

  @Test("what is younger stays, also of a job that has ended; a removed job's old events go")
  func age() async throws {
    let fixture = try Fixture()
    let old = try await fixture.job(1, in: .completed)
    let young = try await fixture.add(Fixture.spec(2))
    try await fixture.settle(fixture.claim(young, at: 1001), .complete, at: 1002)
    let gone = try await fixture.job(3, in: .completed)
    _ = await fixture.store.remove([gone], at: Fixture.at(1003))
    let before = try await fixture.store.events(since: 0, limit: 100)
    _ = try await prune(fixture.store, olderThan: limit)
    let left = try await fixture.store.events(since: 0, limit: 100)
    #expect(left == before.filter { $0.at >= limit })
    #expect(left.map(\.job) == [young, young, gone])
    #expect(try await attempts(fixture.store, young) == [1])
    #expect(try await attempts(fixture.store, old).isEmpty)
  }

  @Test("numbers never go back, and reading from a number that is gone goes on with what is there")
  func numbers() async throws {
    let fixture = try Fixture()
    _ = try await fixture.job(1, in: .completed)
    let last = try await fixture.store.lastEvent()
    _ = try await prune(fixture.store, olderThan: limit)
    #expect(try await fixture.store.events(since: 0, limit: 10).isEmpty)
    // Once asked of the rows, which were gone: a watcher that began there heard everything again.
    #expect(try await fixture.store.lastEvent() == last)
    await fixture.store.close()
    let again = try Store(directory: fixture.directory, now: Fixture.epoch) { _ in }
    #expect(try await again.lastEvent() == last)
    _ = await again.submit([Fixture.spec(2)], at: Fixture.at(2000))
    for since in [0, 1, last] {
      #expect(try await again.events(since: since, limit: 10).map(\.seq) == [last + 1])
    }
    #expect(try await again.lastEvent() == last + 1)
  }

  @Test("of a job that has not ended the newest hundred tries stay, however old")
  func longLived() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    for number in 1...130 {
      try await fixture.settle(fixture.claim(id, at: Double(number)), .postpone, at: Double(number)) {
        $0.failure = Fixture.failure
      }
    }
    #expect(try await prune(fixture.store, olderThan: limit) == 30)
    #expect(try await attempts(fixture.store, id) == Array(31...130))
    let count = try await fixture.store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM attempt") }
    #expect(count == 100)
  }

  @Test("a long history goes in small steps, between which others write")
  func steps() async throws {
    let fixture = try Fixture()
    // Events of unfinished jobs stand between: they must not stop it.
    for round in 0..<4 {
      let ids = await fixture.store.submit((0..<400).map { Fixture.spec(round * 400 + $0) }, at: Fixture.epoch)
        .compactMap { try? $0.get().id }
      if round % 2 == 0 { _ = await fixture.store.transition(ids, .cancel, at: Fixture.at(1)) }
    }
    var progress = PruneProgress()
    var steps = 0
    while !progress.isDone {
      let before = progress.deleted
      progress = try await fixture.store.prune(progress, olderThan: limit)
      #expect(progress.deleted - before <= Store.pruneStep)
      steps += 1
      try await fixture.add(Fixture.spec(10_000 + steps))
    }
    #expect(progress.deleted == 1600 && steps > 4)
    let kept = try await fixture.store.events(since: 0, limit: 10_000)
    #expect(kept.count == 800 + steps)
  }
}
