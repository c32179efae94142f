import Foundation
import Testing
import TransferAPI

@testable import Store

/// The separation of the jobs of different users.
@Suite struct OwnerTests {
  static let alice: UInt32 = 1001
  static let bob: UInt32 = 1002
  static let alices = Scope.owner(alice)
  static let bobs = Scope.owner(bob)

  private func spec(_ n: Int, of owner: UInt32, batch: String? = nil, key: String? = nil) -> JobSpec {
    var spec = Fixture.spec(n)
    spec.owner = owner
    spec.batch = batch
    spec.key = key
    return spec
  }

  /// Alice has jobs 1 and 2, Bob 3 and 4; the first of each is in a batch `b`.
  private func four() async throws -> Fixture {
    let fixture = try Fixture()
    for (n, owner) in [(1, Self.alice), (2, Self.alice), (3, Self.bob), (4, Self.bob)] {
      try await fixture.add(spec(n, of: owner, batch: n.isMultiple(of: 2) ? nil : "b"))
    }
    return fixture
  }

  @Test("pages of batches have no gap between them")
  func batchPages() async throws {
    let fixture = try Fixture()
    for (n, owner, batch) in [(1, Self.alice, "a"), (2, Self.alice, "c"), (3, Self.bob, "a"), (4, Self.bob, "b")] {
      try await fixture.add(spec(n, of: owner, batch: batch))
    }
    for scope in [Self.alices, Self.bobs, .everything] {
      let all = try await fixture.store.batches(in: scope)
      #expect(all.count == (scope == .everything ? 4 : 2))
      var (pages, after): ([Batch], BatchID?) = ([], nil)
      repeat {
        let page = try await fixture.store.batches(after: after, limit: 1, in: scope)
        pages += page
        after = page.last.flatMap { batch in batch.owner.map { BatchID(owner: $0, name: batch.name) } }
      } while after != nil
      #expect(pages == all)
    }
  }

  @Test("a query reaches only the jobs of its scope")
  func queries() async throws {
    let fixture = try await four()
    let store = fixture.store
    let all = [1, 2, 3, 4] as [JobID]
    for (scope, ids) in [(Self.alices, [1, 2] as [JobID]), (Self.bobs, [3, 4]), (.everything, all)] {
      let own = BatchID(owner: scope == Self.bobs ? Self.bob : Self.alice, name: "b")
      let inBatch: [JobID] = own.owner == Self.bob ? [3] : [1]
      for id in all {
        #expect(try await store.job(id, in: scope)?.job.id == (ids.contains(id) ? id : nil))
        #expect(try await store.detail(id, in: scope)?.record.job.id == (ids.contains(id) ? id : nil))
      }
      #expect(try await store.records(all, in: scope).map(\.job.id) == ids)
      let values = try await store.values(of: all, in: scope) { $0.job.id == ids[0] ? nil : $0.job.id }
      #expect(values == Array(ids.dropFirst()))
      let most = try await store.records(all, upTo: .max, in: scope)
      #expect(most.records.map(\.job.id) == ids && most.count == all.count)
      #expect(try await store.jobs(limit: 9, in: scope).map(\.job.id) == ids)
      #expect(try await store.jobs(state: .queued, limit: 9, in: scope).map(\.job.id) == ids)
      #expect(try await store.jobs(after: ids[0], limit: 1, in: scope).map(\.job.id) == [ids[1]])
      #expect(try await store.jobs(batch: own, limit: 9, in: scope).map(\.job.id) == inBatch)
      #expect(try await store.jobs(state: .queued, batch: own, limit: 9, in: scope).map(\.job.id) == inBatch)
      for (selection, expected) in [
        (JobSelection.all, ids), (.state(.queued), ids), (.ids(all), ids), (.batch(own), inBatch),
      ] {
        #expect(try await store.ids(matching: selection, limit: 9, in: scope) == expected, "\(selection) in \(scope)")
      }
      #expect(try await store.counts(in: scope).queued == ids.count)
      #expect(try await store.batches(in: scope).count == (scope == .everything ? 2 : 1))
      #expect(try await store.batch(own, in: scope)?.batch.counts.total == 1)
      #expect(try await store.events(since: 0, limit: 9, in: scope).map(\.job) == ids)
      #expect(try await store.events(since: 0, jobs: Set(all), limit: 9, in: scope).map(\.job) == ids)
      #expect(try await store.lastEvent(in: scope) == ids.last?.rawValue)
    }
    let foreign = BatchID(owner: Self.bob, name: "b")
    #expect(try await store.batch(foreign, in: Self.alices) == nil)
    #expect(try await store.jobs(batch: foreign, limit: 9, in: Self.alices).isEmpty)
    #expect(try await store.ids(matching: .batch(foreign), limit: 9, in: Self.alices).isEmpty)
    #expect(try await store.counts(in: .owner(7)) == StateCounts())
    #expect(try await store.lastEvent(in: .owner(7)) == 0)
  }

  @Test("a change out of scope is refused as if the job did not exist, and changes nothing")
  func changes() async throws {
    let fixture = try await four()
    let store = fixture.store
    let before = try await store.jobs(limit: 9)
    for id in [1, 99] as [JobID] {
      for event in [JobEvent.pause, .cancel, .retry, .resume] {
        let result = await store.transition([id], event, in: Self.bobs, at: Fixture.at(1))[0]
        #expect(result == .failure(.notFound(id)), "\(event)")
      }
      #expect(await store.remove([id], in: Self.bobs, at: Fixture.at(1))[0].failure == .notFound(id))
      await #expect(throws: StoreError.notFound(id)) {
        try await store.update(id, priority: 5, in: Self.bobs, at: Fixture.at(1))
      }
    }
    #expect(try await store.jobs(limit: 9) == before)
    #expect(try await store.lastEvent() == 4)
    #expect(await store.transition([1], .pause, in: Self.alices, at: Fixture.at(1))[0] == .success(.queued))
    #expect(await store.remove([3], in: .everything, at: Fixture.at(1))[0].failure == nil)
  }

  @Test("a key is unique per owner")
  func keys() async throws {
    let fixture = try Fixture()
    let specs = [
      spec(1, of: Self.alice, key: "k"), spec(2, of: Self.bob, key: "k"), spec(3, of: Self.bob, key: "k"),
    ]
    let results = await fixture.store.submit(specs, at: Fixture.epoch).compactMap { try? $0.get() }
    #expect(results.map(\.id) == [1, 2, 2] && results.map(\.existing) == [false, false, true])
    #expect(try await fixture.store.jobs(keys: ["k"], owner: Self.alice)["k"]?.job.id == 1)
    #expect(try await fixture.store.jobs(keys: ["k"], owner: Self.bob)["k"]?.job.id == 2)
    #expect(try await fixture.store.jobs(keys: ["k"], owner: 7)["k"] == nil)
  }

  @Test("a batch's name, counts and sums are separate per owner")
  func batches() async throws {
    let fixture = try await four()
    let store = fixture.store
    try await fixture.settle(fixture.claim(1), .complete)
    try await fixture.settle(fixture.claim(3), .fail) { $0.failure = Fixture.failure }
    let hers = try #require(try await store.batch(BatchID(owner: Self.alice, name: "b"), in: .everything))
    let his = try #require(try await store.batch(BatchID(owner: Self.bob, name: "b"), in: .everything))
    #expect(hers.batch.counts.completed == 1 && hers.batch.counts.total == 1 && hers.bytesDone == 100)
    #expect(his.batch.counts.failed == 1 && his.batch.counts.total == 1 && his.bytesDone == 10)
    #expect(hers.failures.isEmpty && his.failures == ["http-503": 1])
    #expect(hers.batch.owner == Self.alice && his.batch.owner == Self.bob)
    #expect(try await store.counts(in: Self.alices).completed == 1)
    #expect(try await store.counts(in: Self.bobs).completed == 0)
    #expect(await store.remove([1], at: Fixture.at(9))[0].failure == nil)
    #expect(try await store.counts(in: Self.alices).total == 1)
    #expect(try await store.counts(in: Self.bobs).total == 2)
  }

  @Test("a batch's name means the caller's own batch, else the only one; several are an error with advice")
  func names() async throws {
    let fixture = try await four()
    let store = fixture.store
    try await fixture.add(spec(5, of: Self.bob, batch: "only"))
    func owner(_ name: String, for caller: UInt32, in scope: Scope) async throws(StoreError) -> UInt32 {
      try await store.batchID(named: name, for: caller, in: scope).owner
    }
    #expect(try await owner("b", for: Self.alice, in: Self.alices) == Self.alice)
    #expect(try await owner("b", for: Self.bob, in: .everything) == Self.bob)
    #expect(try await owner("only", for: 0, in: .everything) == Self.bob)
    #expect(try await owner("b", for: 0, in: Self.alices) == Self.alice)
    let several = await #expect(throws: StoreError.ambiguousBatch("b", owners: [Self.alice, Self.bob])) {
      try await owner("b", for: 0, in: .everything)
    }
    #expect(several?.description.contains("owner=UID") == true)
    // Another user's batch is refused with the same message as an unknown one.
    let foreign = await #expect(throws: StoreError.noSuchBatch("only")) {
      try await owner("only", for: Self.alice, in: Self.alices)
    }
    #expect(foreign?.description == "no batch \"only\"")
    await #expect(throws: StoreError.noSuchBatch("none")) { try await owner("none", for: 0, in: .everything) }
  }

  @Test("a destination of another user's job is reported as in use, without details")
  func destinations() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    try await fixture.add(spec(1, of: Self.alice))
    let path = Fixture.spec(1).destination
    let hidden = StoreError.destinationTaken(path: path, by: nil)
    #expect(hidden.description == "cannot write to \(path): it is in use")
    #expect(await store.submit([spec(1, of: Self.bob)], in: Self.bobs, at: Fixture.epoch) == [.failure(hidden)])
    let shown = StoreError.destinationTaken(path: path, by: 1)
    #expect(await store.submit([spec(1, of: Self.alice)], in: Self.alices, at: Fixture.epoch) == [.failure(shown)])
    #expect(await store.submit([spec(1, of: 0)], in: .everything, at: Fixture.epoch) == [.failure(shown)])
    // A batch is not created if its job is refused.
    _ = await store.submit([spec(1, of: Self.bob, batch: "x")], in: Self.bobs, at: Fixture.epoch)
    #expect(try await store.batches(in: .everything).isEmpty)
    // The same for a retry.
    _ = await store.transition([1], .cancel, at: Fixture.at(1))
    try await fixture.add(spec(1, of: Self.bob))
    #expect(await store.transition([1], .retry, in: Self.alices, at: Fixture.at(2)) == [.failure(hidden)])
    // The same for a name from the response.
    var unnamed = spec(9, of: Self.alice)
    unnamed.destination = "/downloads/"
    let record = try await fixture.claim(try await fixture.add(unnamed))
    await #expect(throws: hidden) {
      try await store.checkpoint(
        Checkpoint(id: record.job.id, fence: record.fence, bytesDone: 1, bytesTotal: nil, destination: path),
        at: Fixture.at(3))
    }
  }

  @Test("a user's upload waits for the user's own uploads to the same URL, not for those of others")
  func line() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    func upload(_ owner: UInt32) -> JobSpec {
      JobSpec(owner: owner, uploading: "/a", to: "https://h/a", origin: "https://h:443")
    }
    try await fixture.add(upload(Self.alice))
    // A paused job keeps its place, perhaps for ever.
    _ = await store.transition([1], .pause, in: Self.alices, at: Fixture.at(1))
    let second = try await store.submit([upload(Self.bob)], in: Self.bobs, at: Fixture.epoch)[0].get()
    #expect(second.blockedBy == nil)
    let third = try await store.submit([upload(Self.alice)], in: Self.alices, at: Fixture.epoch)[0].get()
    #expect(third.blockedBy == 1)
    let fourth = try await store.submit([upload(Self.bob)], in: Self.bobs, at: Fixture.epoch)[0].get()
    #expect(fourth.blockedBy == second.id)
    #expect(try await store.claim([2, 3, 4], at: Fixture.at(2)).map(\.job.id) == [second.id])
    // Tried again, a job goes to the end of its owner's line.
    _ = await store.transition([1], .cancel, at: Fixture.at(3))
    #expect(await store.transition([1], .retry, in: Self.alices, at: Fixture.at(4)).count == 1)
    #expect(try await fixture.record(1).blockedBy == third.id)
  }

  @Test("the history of a removed job belongs to its owner, including later events")
  func history() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    var upload = JobSpec(owner: Self.alice, uploading: "/a", to: "https://h/a", origin: "https://h:443")
    upload.options.onSuccess = .delete
    let id = try await fixture.add(upload)
    try await fixture.settle(try await fixture.claim(id), .complete) { settlement in
      settlement.followUp.fileAction = PendingFileAction(
        job: id, owner: Self.alice, path: "/a", action: .delete, stamp: FollowUpTests.stamp)
      settlement.followUp.wantsHook = true
    }
    let other = try await fixture.add(
      JobSpec(owner: Self.alice, uploading: "/b", to: "https://h/b", origin: "https://h:443"))
    let record = try await fixture.claim(other)
    _ = try await store.checkpoint(
      Checkpoint(id: other, fence: record.fence, bytesDone: 1, bytesTotal: 9, resumeData: FollowUpTests.ledger),
      at: Fixture.at(1))
    try await fixture.settle(record, .pause)
    for job in [id, other] { #expect(await store.remove([job], at: Fixture.at(2))[0].failure == nil) }
    let action = try #require(try await store.dueFileActions(now: Fixture.at(9), limit: 9).first)
    #expect(action.owner == Self.alice)
    try await store.record([.init(job: id, end: .done, message: "deleted")], at: Fixture.at(3))
    let hook = try #require(try await store.pendingHooks(after: 0, limit: 9).first)
    try await store.settle(hook, reason: "hook", at: Fixture.at(4))
    let abandonment = try #require(try await store.dueRemoteCleanups(now: Fixture.at(9), limit: 9).first)
    #expect(abandonment.spec.owner == Self.alice)
    try await store.settle(abandonment, reason: "taken back", at: Fixture.at(5))
    let reasons = try await store.events(since: 0, limit: 99, in: Self.alices).suffix(3).map(\.reason)
    #expect(reasons == ["deleted", "hook", "taken back"])
    #expect(try await store.events(since: 0, limit: 99, in: Self.bobs).isEmpty)
    #expect(try await store.events(since: 0, jobs: [id, other], limit: 99, in: Self.bobs).isEmpty)
  }
}
