import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct ReadTests {
  /// Twelve jobs with ids 1…12, every third in batch `b`, every even one paused.
  func twelve() async throws -> Fixture {
    let fixture = try Fixture()
    let specs = (1...12).map { n -> JobSpec in
      var spec = Fixture.spec(n)
      spec.batch = n.isMultiple(of: 3) ? "b" : nil
      spec.paused = n.isMultiple(of: 2)
      return spec
    }
    _ = await fixture.store.submit(specs, at: Fixture.epoch)
    return fixture
  }

  @Test("pages have no gap between them")
  func pages() async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    #expect(try await store.jobs(limit: 5).map(\.job.id) == [1, 2, 3, 4, 5])
    #expect(try await store.jobs(after: 10, limit: 5).map(\.job.id) == [11, 12])
    #expect(try await store.jobs(state: .paused, after: 2, limit: 2).map(\.job.id) == [4, 6])
    #expect(try await store.jobs(batch: "b", after: 3, limit: 9).map(\.job.id) == [6, 9, 12])
    #expect(try await store.jobs(state: .queued, batch: "b", limit: 9).map(\.job.id) == [3, 9])
    #expect(try await store.jobs(state: .failed, limit: 9).isEmpty)
  }

  @Test("records end when their rows have enough bytes, and at least one id is looked at")
  func bytes() async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    let first = try await store.records([99, 2, 3], upTo: 1, in: .everything)
    #expect(first.records.map(\.job.id) == [2] && first.count == 2)
    let all = try await store.records([99, 2, 3], upTo: .max, in: .everything)
    #expect(all.records.map(\.job.id) == [2, 3] && all.count == 3)
    let none = try await store.records([], upTo: 1, in: .everything)
    #expect(none.records.isEmpty && none.count == 0)
  }

  @Test(
    "each selector has the expected ids",
    arguments: [
      (JobSelection.ids([7, 99, 2, 7, 1]), [1, 2, 7] as [JobID]),
      (.batch(BatchID(owner: Fixture.owner, name: "b")), [3, 6, 9, 12]),
      (.batch(BatchID(owner: Fixture.owner, name: "x")), []),
      (.state(.paused), [2, 4, 6, 8, 10, 12]), (.all, (1...12).map { JobID($0) }),
    ])
  func selectors(selection: JobSelection, expected: [JobID]) async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    #expect(try await store.ids(matching: selection, limit: 100, in: .everything) == expected)
    #expect(try await store.ids(matching: selection, limit: 2, in: .everything) == Array(expected.prefix(2)))
    #expect(
      try await store.ids(matching: selection, after: 2, limit: 100, in: .everything) == expected.filter { $0 > 2 })
  }

  @Test("records come in the requested order, without removed ones")
  func records() async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    #expect(try await store.records([5, 99, 1]).map(\.job.id) == [5, 1])
    #expect(try await store.job(99) == nil)
    #expect(try await store.running().isEmpty)
    _ = try await store.claim([3, 1], at: Fixture.at(1))
    #expect(try await store.running().map(\.job.id) == [1, 3])
  }

  @Test("a batch has its counts, bytes, and failures by code")
  func batch() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    #expect(try await store.batch("b") == nil)
    #expect(try await store.batchExists("b") == false)
    _ = try await fixture.job(1, in: .completed, batch: "b")
    _ = try await fixture.job(2, in: .failed, batch: "b")
    _ = try await fixture.job(3, in: .failed, batch: "b")
    _ = try await fixture.job(4, in: .failed, batch: "a")
    let detail = try #require(try await store.batch("b"))
    #expect(detail.bytesDone == 120 && detail.bytesTotal == 300)
    #expect(detail.failures == ["http-503": 2])
    #expect(detail.batch.counts.failed == 2 && detail.batch.counts.total == 3)
    #expect(detail.batch.createdAt == Fixture.epoch)
    #expect(try await store.batches().map(\.name) == ["a", "b"])
    #expect(try await store.batchExists("b"))
    #expect(try await store.counts().failed == 3)
  }

  @Test("invented sizes cannot break the sums of a batch")
  func absurdSizes() async throws {
    let fixture = try Fixture()
    for n in 1...3 {
      let record = try await fixture.claim(try await fixture.job(n, in: .queued, batch: "b"))
      let checkpoint = Checkpoint(id: record.job.id, fence: record.fence, bytesDone: 0, bytesTotal: .max)
      #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(1)))
    }
    #expect(try await fixture.store.batch("b")?.bytesTotal == .max)
  }

  @Test("events are listed after a number, for some jobs or all")
  func events() async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    #expect(try await store.lastEvent() == 12)
    #expect(try await store.events(since: 9, limit: 2).map(\.seq) == [10, 11])
    #expect(try await store.events(since: 3, jobs: [1, 7, 5], limit: 10).map(\.job) == [5, 7])
    _ = await store.transition([1], .cancel, at: Fixture.at(1), reason: "no need")
    let last = try #require(try await store.events(since: 12, limit: 10).first)
    #expect(
      last
        == Event(
          seq: 13, job: 1, at: Fixture.at(1), kind: .state, from: .queued, to: .cancelled, reason: "no need",
          error: JobFailure(code: .cancelled, message: "no need", transient: false)))
    #expect(try await Fixture().store.lastEvent() == 0)
  }

  @Test("the history cannot be changed")
  func history() async throws {
    let fixture = try await twelve()
    defer { withExtendedLifetime(fixture) {} }  // keeps the fixture's directory
    let store = fixture.store
    await #expect(throws: StoreError.self) {
      try await store.queue.run { transaction in try transaction.run("UPDATE event SET at = 0") }
    }
  }

  @Test("an origin's block is stored until it is cleared")
  func origins() async throws {
    let fixture = try await twelve()
    let store = fixture.store
    #expect(try await store.origins().isEmpty)
    try await store.blockOrigin(
      "https://example.org:443", failures: 3, until: Fixture.at(60), at: Fixture.at(1))
    try await store.blockOrigin("https://a:443", failures: 1, until: nil, at: Fixture.at(2))
    #expect(
      try await store.origins() == [
        OriginState(name: "https://a:443", failures: 1, blockedUntil: nil, updatedAt: Fixture.at(2)),
        OriginState(
          name: "https://example.org:443", failures: 3, blockedUntil: Fixture.at(60), updatedAt: Fixture.at(1)
        ),
      ])
    try await store.blockOrigin("https://example.org:443", failures: 0, until: nil, at: Fixture.at(3))
    #expect(try await store.origins().map(\.name) == ["https://a:443"])
  }

  @Test("an unreadable row is an error that names the job")
  func unreadable() async throws {
    let fixture = try await twelve()
    try await fixture.store.pool.write { db in
      try db.execute(sql: "PRAGMA ignore_check_constraints = ON; UPDATE job SET kind = 'x' WHERE id = 3")
    }
    await #expect(throws: StoreError.io("\(fixture.file): job 3 has an unreadable kind")) {
      try await fixture.store.jobs(limit: 10)
    }
  }
}
