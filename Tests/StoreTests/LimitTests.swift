import Foundation
import Testing

@testable import Store

@Suite struct LimitTests {
  @Test("the daemon's limits are replaced as a whole, and NULL differs from nothing")
  func daemon() async throws {
    let store = try Fixture().store
    #expect(try await store.daemonLimits().isEmpty)
    try await store.setDaemonLimits(["down": "5", "up": nil])
    #expect(try await store.daemonLimits() == ["down": "5", "up": nil])
    try await store.setDaemonLimits(["maxActive": "3"])
    #expect(try await store.daemonLimits() == ["maxActive": "3"])
  }

  @Test("the limits of a batch are stored, shown and listed; an unknown batch is an error")
  func batch() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.batch = "b"
    _ = await fixture.store.submit([spec], at: Fixture.epoch)
    let id = try #require(spec.batchID)
    #expect(try await fixture.store.limits(of: id) == BatchLimits())
    let limits = BatchLimits(maxActive: 2, limitRate: 5, priority: -7)
    try await fixture.store.setLimits(limits, of: id)
    #expect(try await fixture.store.limits(of: id) == limits)
    #expect(try await fixture.store.limitedBatches() == [id: BatchLimits(maxActive: 2, limitRate: 5)])
    let detail = try await fixture.store.batch(id, in: .everything)
    #expect(detail?.maxActive == 2 && detail?.limitRate == 5 && detail?.priority == -7)
    try await fixture.store.setLimits(BatchLimits(priority: 1), of: id)
    #expect(try await fixture.store.limitedBatches().isEmpty)
    let other = BatchID(owner: id.owner, name: "other")
    await #expect(throws: StoreError.noSuchBatch("other")) { try await fixture.store.limits(of: other) }
    await #expect(throws: StoreError.noSuchBatch("other")) { try await fixture.store.setLimits(limits, of: other) }
  }

  @Test("a batch's priority is for its jobs that wait, and for later ones without a priority")
  func priority() async throws {
    let fixture = try Fixture()
    let specs = (1...6).map { n -> JobSpec in
      var spec = Fixture.spec(n)
      spec.batch = n == 6 ? "other" : "b"
      spec.paused = n == 1
      return spec
    }
    let ids = try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
    _ = try await fixture.store.claim([ids[1]], at: Fixture.epoch)
    let batch = try #require(specs[0].batchID)
    try await fixture.store.setLimits(BatchLimits(priority: 4), of: batch)
    var calls = 0
    while try await fixture.store.setPriority(4, of: batch, limit: 2, at: Fixture.epoch) { calls += 1 }
    #expect(calls == 2)
    var later = (7...8).map { n -> JobSpec in
      var spec = Fixture.spec(n)
      spec.batch = "b"
      return spec
    }
    later[1].priority = -2
    let added = try await fixture.store.submit(later, at: Fixture.epoch).map { try $0.get().id }
    var found: [Int] = []
    for id in ids + added { found.append(try await fixture.store.job(id, in: .everything)?.job.priority ?? 99) }
    #expect(found == [4, 4, 4, 4, 4, 0, 4, -2])
  }
}
