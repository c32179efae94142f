import Foundation
import GRDB
import Testing

@testable import Store

/// Many callers share one commit, but each has its own result.
@Suite struct WriteQueueTests {
  @Test("updates of 64 tasks are committed in groups")
  func coalesces() async throws {
    let fixture = try Fixture()
    let specs = (0..<64).map { Fixture.spec($0) }
    let ids = try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
    let claimed = try await fixture.store.claim(ids, at: Fixture.at(1))
    let counter = CommitCounter()
    fixture.store.pool.add(transactionObserver: counter)
    try await withThrowingTaskGroup { group in
      for record in claimed {
        group.addTask {
          for n in 1...20 {
            let checkpoint = Checkpoint(
              id: record.job.id, fence: record.fence, bytesDone: Int64(n), bytesTotal: nil)
            let isStored = try await fixture.store.checkpoint(checkpoint, at: Fixture.at(1))
            #expect(isStored)
          }
        }
      }
      try await group.waitForAll()
    }
    // The size of the groups depends on the disk and the threads.
    #expect(counter.count < 64 * 20)
    #expect(try await fixture.store.records(ids).allSatisfy { $0.job.bytesDone == 20 })
  }

  @Test("operations that wait together are one commit and one call of onEvents")
  func oneCommit() async throws {
    let fixture = try Fixture()
    let counter = CommitCounter()
    fixture.store.pool.add(transactionObserver: counter)
    let gate = DispatchSemaphore(value: 0)
    let calls = fixture.groups.count
    await withTaskGroup { group in
      // Block the writer until the others wait.
      fixture.store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
      for n in 0..<10 {
        group.addTask { _ = await fixture.store.submit([Fixture.spec(n)], at: Fixture.epoch) }
      }
      while fixture.store.queue.waitingCount < 10 { await Task.yield() }
      gate.signal()
    }
    #expect(counter.count == 1)
    #expect(fixture.groups.count == calls + 1)
    #expect(fixture.groups.last?.count == 10)
  }

  @Test("an operation that throws is undone alone, with its events")
  func isolated() async throws {
    let fixture = try Fixture()
    await fixture.refuseSecond { transaction in
      try transaction.run("INSERT INTO batch (name, owner, created_at) VALUES ('x', 0, 0)")
      try transaction.note(.added, job: 77, of: Fixture.owner, at: Fixture.epoch)
    }
    #expect(try await fixture.store.batchExists("x") == false)
    #expect(fixture.events.map(\.job) == [1, 2])
    #expect(fixture.events == (try await fixture.store.events(since: 0, limit: 10)))
  }

  @Test("a full disk fails every operation of the group completely, and the store works again when there is space")
  func diskFull() async throws {
    let fixture = try Fixture()
    _ = try await fixture.add(Fixture.spec(0))
    func limit(_ pages: Int) async throws {
      try await fixture.store.pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA max_page_count = \(pages)")
      }
    }
    let pages = try await fixture.store.pool.writeWithoutTransaction { db in
      try Int.fetchOne(db, sql: "PRAGMA page_count")
    }
    try await limit(pages! + 2)
    let specs = (1...500).map { Fixture.spec($0) }
    let answers = await fixture.store.submit(specs, at: Fixture.epoch)
    #expect(answers.allSatisfy { $0 == .failure(.diskFull(path: fixture.file)) })
    // An array is stored completely or not at all, independently of its group.
    let stored = await withTaskGroup(of: Int.self) { group in
      for n in 1...20 {
        group.addTask {
          let specs = (1...50).map { Fixture.spec(n * 1000 + $0) }
          return await fixture.store.submit(specs, at: Fixture.epoch).count { $0.failure == nil }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(stored.allSatisfy { $0 == 0 || $0 == 50 } && stored.contains(0))
    #expect(try await fixture.store.counts().total == 1 + stored.reduce(0, +))
    try await limit(1_000_000)
    #expect(await fixture.store.submit(specs, at: Fixture.epoch).allSatisfy { $0.failure == nil })
    #expect(try await fixture.store.counts() == fixture.countedByHand()[""])
  }

  @Test("events are published in the order of their numbers, equal to the history")
  func order() async throws {
    let fixture = try Fixture()
    await withTaskGroup { group in
      for n in 0..<100 {
        group.addTask {
          let answer = await fixture.store.submit([Fixture.spec(n)], at: Fixture.epoch)[0]
          guard let id = try? answer.get().id else { return }
          // Published before the call returned.
          #expect(fixture.events.contains { $0.job == id })
          _ = await fixture.store.transition([id], .pause, at: Fixture.epoch)
        }
      }
    }
    #expect(fixture.events.map(\.seq) == Array(1...200))
    #expect(fixture.events == (try await fixture.store.events(since: 0, limit: 1000)))
  }
}
