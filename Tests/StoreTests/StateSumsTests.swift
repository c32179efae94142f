import Foundation
import GRDB
import TestSupport
import Testing
import TransferAPI

@testable import Store

/// The counters by state and the sums of batches, compared with what the rows say.
@Suite struct StateSumsTests {
  @Test("they are true after 2,000 random operations", arguments: [1, 2, 3] as [UInt64])
  func random(_ seed: UInt64) async throws {
    let fixture = try Fixture()
    // This test is about sums, not about durability.
    try await fixture.store.pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
    var numbers = SeededGenerator(seed: seed)
    var operations = Operations(fixture: fixture)
    for step in 1...2000 {
      try await operations.perform(Int.random(in: 0..<17, using: &numbers), &numbers)
      if step % 100 == 0 { try await Self.expectTrueSums(fixture, "seed \(seed), step \(step)") }
    }
  }

  /// Random calls of everything that changes a job's state or bytes.
  private struct Operations {
    let fixture: Fixture
    var ids: [JobID] = []
    var time = 1.0

    mutating func perform(_ kind: Int, _ numbers: inout SeededGenerator) async throws {
      time += 1
      let store = fixture.store
      let now = Fixture.at(time)
      let some = (0..<Int.random(in: 1...6, using: &numbers)).compactMap { _ in ids.randomElement(using: &numbers) }
      switch kind {
      case 0...2:
        let specs = (0..<Int.random(in: 1...5, using: &numbers)).map { _ in spec(&numbers) }
        ids += await store.submit(specs, at: now).compactMap { try? $0.get().id }
      case 3...5: _ = try await store.claim(Array(Set(some)).sorted(), at: now)
      case 6...9:
        let running = try await store.records(Array(Set(some)).sorted())
        let settlements = running.map { settlement($0, &numbers) }
        _ = try await store.settle(settlements, claiming: some.filter { $0.rawValue % 2 == 0 }, at: now)
      case 10:
        let checkpoints = try await store.records(some).map { record in
          Checkpoint(
            id: record.job.id, fence: record.fence, bytesDone: Int64.random(in: 0..<1000, using: &numbers),
            bytesTotal: Bool.random(using: &numbers) ? 1000 : nil)
        }
        _ = try await store.checkpoint(checkpoints, at: now)
      case 11...13:
        let event = [JobEvent.pause, .resume, .cancel, .retry].randomElement(using: &numbers)!
        _ = await store.transition(some, event, at: now)
      case 14: _ = await store.remove(some, at: now)
      case 15:
        let verb = JobVerb.allCases.randomElement(using: &numbers)!
        let batch = BatchID(owner: Fixture.owner, name: ["a", "b"].randomElement(using: &numbers)!)
        _ = try await store.apply(verb, toAll: .batch(batch), in: .everything, at: now)
      default:
        guard let id = some.first else { return }
        let url = "https://h/\(Int.random(in: 0..<20, using: &numbers))"
        _ = try? await store.update(
          id, address: AddressChange(url: url, origin: "https://h:443", isElsewhere: true), at: now)
      }
    }

    private func spec(_ numbers: inout SeededGenerator) -> JobSpec {
      let n = Int.random(in: 0..<200, using: &numbers)
      var spec = n % 3 == 0 ? UploadLineTests.upload("/\(n)", to: "https://h/\(n % 20)") : Fixture.spec(n)
      spec.owner = [Fixture.owner, 41_002].randomElement(using: &numbers)!
      spec.batch = [nil, "a", "b"].randomElement(using: &numbers)!
      spec.paused = n % 7 == 0
      spec.key = n % 5 == 0 ? "k\(n)" : nil
      return spec
    }

    private func settlement(_ record: JobRecord, _ numbers: inout SeededGenerator) -> Settlement {
      let event = [JobEvent.complete, .fail, .postpone, .requeue, .pause, .cancel].randomElement(using: &numbers)!
      let bytes = Int64.random(in: 0..<1000, using: &numbers)
      // A claim that was lost is refused.
      let fence = record.fence - (bytes % 10 == 0 ? 1 : 0)
      var settlement = Settlement(
        id: record.job.id, fence: fence, event: event, bytesDone: bytes, bytesTotal: bytes % 2 == 0 ? 1000 : nil)
      settlement.result = [.transferred, .unchanged, .skipped][Int(bytes % 3)]
      if bytes % 3 == 0 { settlement.resumeData = .set(Data("{}".utf8)) }
      return settlement
    }
  }

  @Test("an operation that is rolled back takes its sums back, and others of its group keep theirs")
  func rolledBack() async throws {
    let fixture = try Fixture()
    await fixture.refuseSecond { transaction in
      transaction.sums.replace(nil, by: .init(state: .failed), owner: Fixture.owner, batch: nil)
    }
    var expected = StateCounts()
    expected.queued = 2
    #expect(try await fixture.store.counts() == expected)
  }

  @Test("a job's change reaches the sums of its owner and of its batch, its bytes those of its batch")
  func replace() {
    var sums = StateSums()
    sums.replace(nil, by: .init(state: .queued, bytesTotal: 8), owner: 7, batch: "b")
    sums.replace(.init(state: .queued), by: .init(state: .running, bytesDone: 5), owner: 7, batch: nil)
    sums.replace(.init(state: .failed, bytesDone: 5, bytesTotal: 9), by: nil, owner: 7, batch: "b")
    sums.replace(.init(state: .running), by: .init(state: .running, bytesDone: .max), owner: 7, batch: "c")
    sums.replace(.init(state: .running), by: .init(state: .completed, result: .skipped), owner: 8, batch: "b")
    sums.replace(.init(state: .completed, result: .unchanged), by: nil, owner: 8, batch: nil)
    let all = sums.changes[BatchID(owner: 7, name: "")]
    #expect(all?.jobs.queued == 0 && all?.jobs.running == 1 && all?.jobs.failed == -1 && all?.bytesDone == 0)
    let batch = sums.changes[BatchID(owner: 7, name: "b")]
    #expect(batch?.jobs.queued == 1 && batch?.jobs.failed == -1)
    #expect(batch?.bytesDone == -5 && batch?.bytesTotal == -1)
    #expect(sums.changes[BatchID(owner: 7, name: "c")]?.jobs == StateCounts())
    #expect(sums.changes[BatchID(owner: 7, name: "c")]?.bytesDone == Double(Int64.max))
    let results = [("", -1, 1), ("b", 0, 1)] as [(String, Int, Int)]
    for (name, unchanged, skipped) in results {
      let change = sums.changes[BatchID(owner: 8, name: name)]?.results
      #expect(change?.unchanged == unchanged && change?.skipped == skipped && change?.transferred == 0)
    }
  }

  /// Compares the stored sums with the rows.
  static func expectTrueSums(
    _ fixture: Fixture, _ comment: String = "", _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let (kept, counted) = try await fixture.store.read { db in
      let kept = try String.fetchAll(
        db,
        sql: """
          SELECT \(Self.line) FROM (
            SELECT batch, owner, state, jobs FROM state_count WHERE jobs > 0
            UNION ALL SELECT batch, owner, result, jobs FROM result_count WHERE jobs > 0
            UNION ALL SELECT name, owner, 'done', CAST(bytes_done AS INTEGER) FROM batch
            UNION ALL SELECT name, owner, 'total', CAST(bytes_total AS INTEGER) FROM batch)
          ORDER BY batch, owner, state
          """)
      let counted = try String.fetchAll(
        db,
        sql: """
          SELECT \(Self.line) FROM (
            SELECT '' AS batch, owner, state, count(*) AS jobs FROM job GROUP BY owner, state
            UNION ALL SELECT '', owner, result, count(*) FROM job WHERE result IS NOT NULL GROUP BY owner, result
            UNION ALL SELECT batch, owner, result, count(*) FROM job
              WHERE batch IS NOT NULL AND result IS NOT NULL GROUP BY batch, owner, result
            UNION ALL SELECT batch, owner, state, count(*) FROM job WHERE batch IS NOT NULL GROUP BY batch, owner, state
            UNION ALL SELECT name, owner, 'done', (
              SELECT COALESCE(sum(bytes_done), 0) FROM job WHERE job.batch = name AND job.owner = batch.owner) FROM batch
            UNION ALL SELECT name, owner, 'total', (
              SELECT COALESCE(sum(bytes_total), 0) FROM job WHERE job.batch = name AND job.owner = batch.owner)
              FROM batch)
          ORDER BY batch, owner, state
          """)
      return (kept, counted)
    }
    #expect(kept == counted, "\(comment)", sourceLocation: location)
  }

  private static let line = "batch || ' ' || owner || ' ' || state || ' ' || jobs"
}
