import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct PruneTests {
  private let limit = Fixture.at(1000)

  /// Runs all steps and returns the number of deleted rows.
  private func prune(_ store: Store, olderThan limit: Date) async throws -> Int {
    var progress = PruneProgress()
    while !progress.isDone { progress = try await store.prune(progress, olderThan: limit) }
    return progress.deleted
  }

  private func attempts(_ store: Store, _ id: JobID) async throws -> [Int] {
    try await store.detail(id)?.attempts.map(\.number) ?? []
  }

  @Test("events and attempts of ended jobs are deleted, those of other jobs are kept", arguments: JobState.allCases)
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
    // The job itself is kept.
    #expect(try await fixture.record(id).job.state == state)
  }

  @Test("younger history of ended jobs is kept; old events of removed jobs are deleted")
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

  @Test("event numbers never go back, and reading after a deleted number continues with the next event")
  func numbers() async throws {
    let fixture = try Fixture()
    _ = try await fixture.job(1, in: .completed)
    let last = try await fixture.store.lastEvent()
    _ = try await prune(fixture.store, olderThan: limit)
    #expect(try await fixture.store.events(since: 0, limit: 10).isEmpty)
    // Regression: the number was read from the deleted rows, so a watcher got all events again.
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

  @Test("an unfinished job keeps its newest hundred attempts, however old")
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

  @Test("a long history is deleted in small steps, and other writes run between them")
  func steps() async throws {
    let fixture = try Fixture()
    // Events of unfinished jobs lie between them and must not stop the deletion.
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
