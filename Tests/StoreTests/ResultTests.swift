import Foundation
import Testing
import TransferAPI

@testable import Store

/// What completed jobs have done, in rows, sums and events.
@Suite struct ResultTests {
  private static func complete(
    _ n: Int, _ result: JobResult, batch: String? = "b", in fixture: Fixture,
    _ change: (inout Settlement) -> Void = { _ in }
  ) async throws -> JobID {
    var spec = Fixture.spec(n)
    spec.batch = batch
    let id = try await fixture.add(spec)
    try await fixture.settle(fixture.claim(id), .complete) { settlement in
      settlement.result = result
      change(&settlement)
    }
    return id
  }

  @Test("a job has its result after its end, alone, in lists and in its event", arguments: JobResult.allCases)
  func row(_ result: JobResult) async throws {
    let fixture = try Fixture()
    let id = try await Self.complete(1, result, in: fixture)
    #expect(try await fixture.record(id).job.result == result)
    let page = try await fixture.store.jobList(order: .id, limit: 10, in: .everything)
    #expect(page.jobs.map(\.job.result) == [result])
    let event = try #require(try await fixture.store.events(since: 0, limit: 10).last)
    #expect(event.to == .completed && event.result == (result == .transferred ? nil : result))
    #expect(fixture.events.last == event)
  }

  @Test("a job that has not completed has no result", arguments: [JobEvent.fail, .postpone, .requeue, .pause, .cancel])
  func none(_ event: JobEvent) async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    try await fixture.settle(fixture.claim(id), event) { $0.result = .unchanged }
    #expect(try await fixture.record(id).job.result == nil)
    try await StateSumsTests.expectTrueSums(fixture)
  }

  @Test("a batch and a watcher have the sums of the results, and removed jobs no longer count")
  func sums() async throws {
    let fixture = try Fixture()
    var ids: [JobID] = []
    for n in 0..<6 {
      ids.append(
        try await Self.complete(
          n, [.transferred, .unchanged, .unchanged, .skipped, .unchanged, .transferred][n], in: fixture))
    }
    _ = try await Self.complete(7, .skipped, batch: nil, in: fixture)
    func results(_ transferred: Int, _ unchanged: Int, _ skipped: Int) -> JobResults {
      JobResults(completed: transferred + unchanged + skipped, unchanged: unchanged, skipped: skipped)
    }
    #expect(try await fixture.store.batch("b")?.results == results(2, 3, 1))
    let owner = Scope.owner(Fixture.owner)
    let batch = BatchID(owner: Fixture.owner, name: "b")
    #expect(
      try await fixture.store.watched(batch: batch, since: 0, limit: 9, in: owner).sums.results == results(2, 3, 1))
    #expect(try await fixture.store.watched(batch: nil, since: 0, limit: 9, in: owner).sums.results == results(2, 3, 2))
    #expect(
      try await fixture.store.watched(batch: nil, since: 0, limit: 9, in: .everything).sums.results == results(2, 3, 2))
    #expect(
      try await fixture.store.watched(batch: nil, since: 0, limit: 9, in: .owner(41_002)).sums.results
        == results(0, 0, 0))
    #expect(await fixture.store.remove([ids[1]], at: Fixture.at(5))[0].failure == nil)
    #expect(try await fixture.store.batch("b")?.results == results(2, 2, 1))
    _ = try await fixture.store.apply(.remove, toAll: .batch(batch), in: .everything, at: Fixture.at(6))
    #expect(try await fixture.store.batch("b")?.results == results(0, 0, 0))
  }

  @Test("the name that a file has got is stored with its job's end")
  func destination() async throws {
    let fixture = try Fixture()
    let id = try await Self.complete(1, .transferred, in: fixture) { $0.destination = "/downloads/1.1" }
    #expect(try await fixture.record(id).job.destination == "/downloads/1.1")
  }

  @Test("jobs that choose their names may have the same destination as any other job")
  func chooses() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.options.download.ifExists = .rename
    let ids = [try await fixture.add(Fixture.spec(1)), try await fixture.add(spec), try await fixture.add(spec)]
    #expect(await fixture.store.submit([Fixture.spec(1)], at: Fixture.epoch)[0].failure != nil)
    // The name of a response is no claim either.
    spec.destination = "/downloads/"
    let unnamed = try await fixture.claim(fixture.add(spec))
    let named = Checkpoint(
      id: unnamed.job.id, fence: unnamed.fence, bytesDone: 1, bytesTotal: 1, destination: "/downloads/1")
    #expect(try await fixture.store.checkpoint(named, at: Fixture.at(2)))
    // A retry does not need the name either.
    try await fixture.settle(fixture.claim(ids[1]), .fail) { $0.failure = Fixture.failure }
    #expect(await fixture.store.transition([ids[1]], .retry, at: Fixture.at(3))[0].failure == nil)
    try await fixture.settle(fixture.claim(ids[2]), .fail) { $0.failure = Fixture.failure }
    let all = try await fixture.store.apply(.retry, toAll: .all, in: .everything, at: Fixture.at(4))
    #expect(all.changed == 1)
    #expect(try await fixture.record(ids[2]).job.state == .queued)
  }
}
