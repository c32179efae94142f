import Foundation
import Testing
import TransferAPI

@testable import Store

/// Batches of one priority take turns.
@Suite struct ShareTests {
  private func spec(_ n: Int, _ batch: String?, priority: Int = 0, owner: UInt32 = Fixture.owner) -> JobSpec {
    var spec = Fixture.spec(n, origin: "https://o\(n % 3):443")
    spec.batch = batch
    spec.priority = priority
    spec.owner = owner
    return spec
  }

  @Test("a long batch hides neither a short one nor jobs without a batch, of any owner; higher priorities come first")
  func turns() async throws {
    let fixture = try Fixture()
    let specs =
      (0..<3000).map { spec($0, "crowd") } + (3000..<3003).map { spec($0, "small") } + [spec(3003, nil)]
      + (3004..<4000).map { spec($0, nil, owner: 41_001) } + [spec(4000, "crowd", priority: 1)]
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    let found = try await fixture.store.candidates(now: Fixture.epoch, excludingOrigins: [], limit: 101)
    #expect(found[0].id == 4001 && found[0].priority == 1)
    let counts = Dictionary(grouping: found.dropFirst()) { $0.share }.mapValues(\.count)
    #expect(
      counts == [
        BatchID(owner: Fixture.owner, name: "crowd"): 25, BatchID(owner: Fixture.owner, name: "small"): 3,
        BatchID(owner: Fixture.owner, name: ""): 1, BatchID(owner: 41_001, name: ""): 25,
      ])
    // In their order, and without what is excluded.
    let ids = found.filter { $0.batch?.name == "crowd" && $0.priority == 0 }.map(\.id)
    #expect(ids == (1...25).map { JobID($0) })
    let other = try await fixture.store.candidates(now: Fixture.epoch, excludingOrigins: ["https://o0:443"], limit: 101)
    #expect(other.allSatisfy { $0.origin != "https://o0:443" } && other.contains { $0.batch?.name == "small" })
  }

  @Test("lower priorities are found only when all jobs of the higher ones are")
  func priorities() async throws {
    let fixture = try Fixture()
    let specs = (0..<7).map { spec($0, "b\($0 % 3)", priority: 1) } + (7..<100).map { spec($0, nil) }
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    for limit in 1...12 {
      let found = try await fixture.store.candidates(now: Fixture.epoch, excludingOrigins: [], limit: limit)
      let high = found.count { $0.priority == 1 }
      #expect(!found.isEmpty && found.count <= limit && (high == 7 || high == found.count), "\(limit): \(found.count)")
    }
  }

  @Test("searches in a row visit all batches, if there are more than a search finds")
  func cursor() async throws {
    let fixture = try Fixture()
    let specs = (0..<400).map { spec($0, "b\($0 % 100)") }
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    var seen: Set<BatchID> = []
    var cursor: String?
    for _ in 0..<4 {
      let page = try await fixture.store.candidatePage(
        now: Fixture.epoch, excludingOrigins: [], from: cursor, limit: 25)
      #expect(page.candidates.count == 25)
      seen.formUnion(page.candidates.map(\.share))
      cursor = page.cursor
      #expect(cursor != nil)
    }
    #expect(seen.count == 100)
    // The last share ends the first round.
    let wrapped = try await fixture.store.candidatePage(
      now: Fixture.epoch, excludingOrigins: [], from: "\(Fixture.owner) b99", limit: 3)
    #expect(wrapped.candidates.map(\.share.name) == ["b0", "b1", "b10"])
  }

  @Test("excluded origins with most jobs of every batch do not hide the others")
  func hidden() async throws {
    let fixture = try Fixture()
    var specs = (0..<2000).map { n -> JobSpec in
      var spec = spec(n, "b\(n % 2)")
      spec.origin = "https://crowd:443"
      return spec
    }
    specs.append(spec(2000, "b0"))
    for result in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try result.get() }
    let found = try await fixture.store.candidates(
      now: Fixture.epoch, excludingOrigins: ["https://crowd:443"], limit: 20)
    #expect(found.map(\.id) == [2001])
  }

  @Test("a search costs about the same with 200 batches and with 4,000")
  func cost() async throws {
    var costs: [Int] = []
    for count in [200, 4000] {
      let fixture = try Fixture()
      for result in await fixture.store.submit((0..<count * 2).map { spec($0, "b\($0 % count)") }, at: Fixture.epoch) {
        _ = try result.get()
      }
      costs.append(
        try await fixture.store.read { db in
          try StepCounter.steps(of: db) {
            let found = try CandidateSelection(db, excluding: [], limit: 100).candidates(now: Fixture.epoch)
            #expect(found.count == 100)
          }
        })
    }
    #expect(costs[1] < costs[0] * 3 / 2, "\(costs)")
  }
}
