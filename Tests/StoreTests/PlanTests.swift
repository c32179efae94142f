import Foundation
import Testing

@testable import Store

@Suite struct PlanTests {
  @Test("a plan has the waiting jobs in the order of the queue, what they wait for, and how fast files were lately")
  func facts() async throws {
    let fixture = try Fixture()
    var specs = (1...5).map { Fixture.spec($0, origin: $0 == 5 ? "https://b:443" : "https://a:443") }
    specs[1].priority = 3
    specs[2].batch = "b"
    specs[3].paused = true
    let ids = try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
    var last = Fixture.spec(6)
    last.options.schedule.after = [.job(ids[0]), .batch("b")]
    last.options.limitRate = 2048
    let waiting = try await fixture.add(last)
    // 100 bytes in 2 s.
    try await fixture.settle(fixture.claim(ids[4], at: 0), .complete, at: 2)
    let facts = try await fixture.store.planFacts(limit: 10)
    #expect(facts.jobs.map(\.job.id) == [ids[1], ids[0], ids[2], waiting])
    #expect(facts.jobs.map(\.limitRate) == [nil, nil, nil, 2048])
    let batch = BatchID(owner: Fixture.owner, name: "b")
    #expect(Set(facts.jobs[3].obstacles) == [.job(ids[0]), .batch(batch)] && facts.jobs[0].obstacles.isEmpty)
    #expect(facts.unfinished == [batch: 1] && facts.jobs.allSatisfy { $0.owner == Fixture.owner })
    #expect(facts.rates == ["https://b:443": 50] && facts.typicalBytes == 100)
    #expect(facts.jobs[2].facts.batch == batch && facts.jobs[0].facts.origin == "https://a:443")
    #expect(try await fixture.store.planFacts(limit: 2).jobs.map(\.job.id) == [ids[1], ids[0]])
  }

  @Test("an upload waits for the earlier upload to the same URL")
  func line() async throws {
    let fixture = try Fixture()
    func upload(_ path: String) -> JobSpec {
      JobSpec(owner: Fixture.owner, uploading: path, to: "https://h/a", origin: "https://h:443")
    }
    let first = try await fixture.add(upload("/a"))
    try await fixture.add(upload("/b"))
    #expect(try await fixture.store.planFacts(limit: 10).jobs.map(\.obstacles) == [[], [.job(first)]])
  }
}
