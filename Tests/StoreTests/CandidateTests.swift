import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct CandidateTests {
  @Test("candidates are ordered by priority, then by id, with due retries among them; excluded origins are left out")
  func order() async throws {
    let fixture = try Fixture()
    var specs = (1...6).map {
      Fixture.spec($0, origin: $0.isMultiple(of: 3) ? "https://b:443" : "https://a:443")
    }
    specs[3].priority = 5
    specs[4].paused = true
    let ids = try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
    let retrying = try await fixture.claim(ids[0])
    try await fixture.settle(retrying, .postpone) { settlement in
      settlement.retryAt = Fixture.at(60)
      settlement.retryDelay = .seconds(58)
    }
    func candidates(_ seconds: Double, _ excluding: Set<String> = [], limit: Int = 10) async throws -> [JobID] {
      try await fixture.store.candidates(now: Fixture.at(seconds), excludingOrigins: excluding, limit: limit)
        .map(\.id)
    }
    #expect(try await candidates(59) == [ids[3], ids[1], ids[2], ids[5]])
    #expect(try await candidates(60) == [ids[3], ids[0], ids[1], ids[2], ids[5]])
    #expect(try await candidates(60, limit: 2) == [ids[3], ids[0]])
    #expect(try await candidates(60, ["https://a:443"]) == [ids[2], ids[5]])
    #expect(try await candidates(60, ["https://a:443", "https://b:443", "https://unknown:1"]) == [])
    #expect(try await candidates(60, limit: 0) == [])
    #expect(try await fixture.store.waitingTimes(now: Fixture.at(2)).nextRetry == Fixture.at(60))
    let first = try await fixture.store.candidates(now: Fixture.at(60), excludingOrigins: [], limit: 1)
    #expect(
      first == [Candidate(id: ids[3], origin: "https://a:443", priority: 5, owner: Fixture.owner)])
  }

  @Test("without retrying jobs there is no next retry")
  func noRetry() async throws {
    let fixture = try Fixture()
    try await fixture.add(Fixture.spec(1))
    #expect(try await fixture.store.waitingTimes(now: Fixture.epoch) == WaitingTimes())
  }

  @Test("a clock that is set back by a day delays a retry by its own wait only")
  func clockSetBack() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    try await fixture.settle(fixture.claim(id), .postpone, at: 0) { $0.retryDelay = .seconds(30) }
    func candidates(_ seconds: Double) async throws -> Int {
      try await fixture.store.candidates(now: Fixture.at(seconds), excludingOrigins: [], limit: 9).count
    }
    func nextRetry(_ seconds: Double) async throws -> Date? {
      try await fixture.store.waitingTimes(now: Fixture.at(seconds)).nextRetry
    }
    #expect(try await nextRetry(0) == Fixture.at(30))
    let back = -86_400.0
    #expect(try await candidates(back) == 0)
    #expect(try await nextRetry(back) == Fixture.at(back + 30))
    // Another look does not restart the wait.
    #expect(try await candidates(back + 20) == 0)
    #expect(try await nextRetry(back + 20) == Fixture.at(back + 30))
    #expect(try await candidates(back + 29) == 0)
    #expect(try await candidates(back + 30) == 1)
  }

  @Test("a wait of a million years, which a server may request, can be stored")
  func absurdWait() async throws {
    let fixture = try Fixture()
    let record = try await fixture.claim(try await fixture.add(Fixture.spec(1)))
    try await fixture.settle(record, .postpone) { settlement in
      settlement.retryDelay = .seconds(Int64.max)
      settlement.retryAt = Date(timeIntervalSince1970: 1e300)
    }
    try await fixture.store.blockOrigin(
      "o", failures: 1, until: Date(timeIntervalSince1970: 1e300), at: Fixture.epoch)
    _ = try await fixture.store.candidates(now: Fixture.at(-86_400), excludingOrigins: [], limit: 9)
    _ = try await fixture.store.waitingTimes(now: Fixture.at(-86_400))
    #expect(try await fixture.record(record.job.id).job.state == .retrying)
  }

  /// The three queries find the same candidates.
  @Test("the best candidates of the allowed origins are found in any queue", arguments: [3, 50, 2500])
  func ways(origins: Int) async throws {
    let fixture = try Fixture()
    let crowd = (0..<CandidateSelection.window + 100).map { n -> JobSpec in
      var spec = Fixture.spec(n, origin: "https://crowd:443")
      spec.priority = 9
      return spec
    }
    let others = (0..<3000).map { n -> JobSpec in
      var spec = Fixture.spec(100_000 + n, origin: "https://o\(n % origins):443")
      spec.priority = n % 7
      return spec
    }
    let answers = await fixture.store.submit(crowd + others, at: Fixture.epoch)
    let added = try zip(crowd + others, answers).map { (spec: $0, id: try $1.get().id) }
    let excluded: Set = ["https://crowd:443", "https://o1:443"]
    let expected =
      added.filter { !excluded.contains($0.spec.origin) }
      .sorted { ($1.spec.priority, $0.id) < ($0.spec.priority, $1.id) }.prefix(20).map(\.id)
    let found = try await fixture.store.candidates(now: Fixture.epoch, excludingOrigins: excluded, limit: 20)
    #expect(found.map(\.id) == expected)
  }

  @Test("a search without full batches and full origins finds as many of each other batch", arguments: [0, 1, 2, 3])
  func excludedBatches(_ seed: Int) async throws {
    let fixture = try Fixture()
    let specs = (0..<600).map { n -> JobSpec in
      var spec = Fixture.spec(n, origin: "https://o\((n * 7 + seed) % 5):443")
      spec.priority = (n * 13 + seed) % 4
      spec.batch = n % 6 == 0 ? nil : "b\(n % 6)"
      return spec
    }
    let answers = await fixture.store.submit(specs, at: Fixture.epoch)
    let added = try zip(specs, answers).map { (spec: $0, id: try $1.get().id) }
    let batches: Set = [specs[1].batchID!, specs[2].batchID!]
    for origins: Set<String> in [[], ["https://o1:443"], ["https://o1:443", "https://o2:443"]] {
      // The highest priority has enough jobs. No batch, and three batches that are not full: 12 of each.
      let allowed = added.filter {
        !origins.contains($0.spec.origin) && !($0.spec.batchID.map(batches.contains) ?? false) && $0.spec.priority == 3
      }
      let shares = Dictionary(grouping: allowed) { $0.spec.batch }.values
      let expected = shares.flatMap { $0.map(\.id).sorted().prefix(50 / shares.count) }.sorted()
      let found = try await fixture.store.candidates(
        now: Fixture.epoch, excludingOrigins: origins, excludingBatches: batches, limit: 50)
      #expect(found.map(\.id) == expected)
      let names = Dictionary(uniqueKeysWithValues: added.map { ($0.id, $0.spec.batchID) })
      for candidate in found { #expect(candidate.batch == names[candidate.id]!) }
    }
  }

  @Test("a search passes over a full batch of any length in few steps")
  func fullBatch() async throws {
    var costs: [Int] = []
    for count in [500, 8000] {
      let fixture = try Fixture()
      let specs = (0..<count).map { n -> JobSpec in
        var spec = Fixture.spec(n, origin: "https://o\(n % 3):443")
        spec.batch = "crowd"
        spec.priority = 5
        return spec
      }
      for added in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try added.get() }
      let last = Fixture.spec(count, origin: "https://o1:443")
      let id = try #require(await fixture.store.submit([last], at: Fixture.epoch).first).get().id
      let crowd = Set([specs[0].batchID!])
      costs.append(
        try await fixture.store.read { db in
          try StepCounter.steps(of: db) {
            let selection = try CandidateSelection(db, excluding: [], batches: crowd, limit: 20)
            let found = try selection.candidates(now: Fixture.epoch).map(\.id)
            #expect(found == [id])
          }
        })
    }
    #expect(costs[1] < costs[0] * 2, "\(costs)")
  }

  @Test("every recurring statement of the daemon uses an index", arguments: hotStatements)
  func plans(name: String, sql: String) async throws {
    let fixture = try Fixture()
    let plan = try await fixture.plan(of: sql)
    // The head of the queue is read by a SCAN of an index in its order with a LIMIT.
    for step in plan where step.contains("job") {
      #expect(step.contains("INDEX") || step.contains("PRIMARY KEY"), "\(name): \(plan)")
    }
    let sorted = plan.contains { $0.contains("TEMP B-TREE") }
    #expect(!sorted || name == "due retries", "\(name): \(plan)")
  }

  static let hotStatements: [(name: String, sql: String)] =
    [
      ("head of the queue", CandidateSelection.headOfQueue),
      ("head of the queue, some origins", CandidateSelection.headOfQueueExcluding),
      ("beyond the window", CandidateSelection.beyondWindow),
      ("origins", CandidateSelection.waitingOrigins),
      ("head of a lane", CandidateSelection.headOfLane), ("first lane", CandidateSelection.firstLane),
      ("next lane", CandidateSelection.nextLane), ("queue without some lanes", CandidateSelection.queueExcludingLanes),
      ("due retries", CandidateSelection.dueRetries), ("first priority", ShareSelection.firstPriority),
      ("next priority", ShareSelection.nextPriority), ("next share", ShareSelection.nextShare),
      ("head of a share", ShareSelection.headOfShare),
      ("next retry", Store.nextRetry),
      ("jobs that run alone", Store.markedCandidates),
      ("times of jobs that run alone", Store.markedTimes),
      ("origins with jobs in the queue", Store.queuedOrigins),
      ("a job", JobRecord.byID), ("a key", JobRecord.byKey),
    ] + JobPageQuery.statements

  /// Counts SQLite's steps instead of time, so that other programs on the machine change nothing.
  @Test("choosing, paging and counting cost the same in a queue four times as long")
  func queueLength() async throws {
    let fixture = try Fixture()
    var costs: [Costs] = []
    for _ in 0..<2 {
      let present = try await fixture.store.counts().total
      let specs = (present..<max(4000, 4 * present)).map { n -> JobSpec in
        var spec = Fixture.spec(n, origin: "https://o\(n % 10):443")
        spec.batch = "b"
        return spec
      }
      for added in await fixture.store.submit(specs, at: Fixture.epoch) { _ = try added.get() }
      if present == 0 {
        #expect(try await fixture.store.claim((1...1000).map { JobID($0) }, at: Fixture.at(1)).count == 1000)
      }
      costs.append(try await Self.costs(fixture.store))
    }
    print("steps with 4,000 jobs and with 16,000: \(costs)")
    #expect(costs[1].choosing < costs[0].choosing * 3 / 2)
    #expect(costs[1].paging < costs[0].paging * 3 / 2)
    #expect(costs[1].counting < costs[0].counting * 3 / 2)
    #expect(costs[1].scan > costs[0].scan * 3, "the counter counts")
  }

  /// Steps of SQLite's virtual machine.
  private struct Costs {
    var choosing = 0
    var paging = 0
    var counting = 0
    var scan = 0
  }

  private static func costs(_ store: Store) async throws -> Costs {
    let batch = BatchID(owner: Fixture.owner, name: "b")
    return try await store.read { db in
      var costs = Costs()
      costs.choosing = try StepCounter.steps(of: db) {
        let selection = try CandidateSelection(db, excluding: ["https://o1:443"], limit: 50)
        let candidates = try selection.candidates(now: Fixture.epoch)
        #expect(candidates.count == 50)
      }
      let pages = try [
        #require(JobPageQuery(batch: batch, after: 3000, limit: 100, in: .everything)),
        #require(JobPageQuery(state: .running, after: 500, limit: 100, in: .everything)),
      ]
      costs.paging = try StepCounter.steps(of: db) {
        for page in pages {
          let jobs = try JobRecord.fetch(db, page.ids(db), in: .everything)
          #expect(jobs.count == 100)
        }
      }
      costs.counting = try StepCounter.steps(of: db) {
        let counts = try StateCounts.fetchAll(db)
        #expect(counts.running == 1000)
      }
      costs.scan = try StepCounter.steps(of: db) {
        let found = try Int.fetchOne(db, sql: "SELECT count(*) FROM job NOT INDEXED WHERE source = ''")
        #expect(found == 0)
      }
      return costs
    }
  }
}
