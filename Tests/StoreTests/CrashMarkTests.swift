import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct CrashMarkTests {
  private func marks(_ fixture: Fixture, _ ids: [JobID]) async throws -> [Int] {
    try await fixture.store.records(ids).map(\.crashMarks)
  }

  /// Running jobs, each with the given number of crashes before this attempt.
  private func running(_ fixture: Fixture, _ count: Int, marks: Int) async throws -> [JobRecord] {
    var ids: [JobID] = []
    for number in 0..<count { ids.append(try await fixture.add(Fixture.spec(number))) }
    var records = try await fixture.store.claim(ids, at: Fixture.at(1))
    for _ in 0..<marks {
      try await fixture.store.countCrash(ofRun: UUID().uuidString)
      for record in records { try await fixture.settle(record, .requeue) { $0.crashed = true } }
      records = try await fixture.store.claim(ids, at: Fixture.at(2))
    }
    return records
  }

  @Test("a crash counts once against each running job, even if it is reported again or after a power cut")
  func counted() async throws {
    let directory = Fixture.temporaryDirectory()
    var ids: [JobID] = []
    do {
      let fixture = try Fixture(directory: directory)
      for state in [JobState.running, .queued, .running, .retrying, .completed, .paused] {
        ids.append(try await fixture.job(ids.count, in: state))
      }
      #expect(try await fixture.store.countCrash(ofRun: "a") == CountedCrash(run: "a", jobs: 2))
      #expect(try await marks(fixture, ids) == [1, 0, 1, 0, 0, 0])
      #expect(try await fixture.store.countCrash(ofRun: "a") == CountedCrash(run: "a", jobs: 2))
      // The state after a power cut.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: fixture.file + suffix, toPath: fixture.file + ".copy" + suffix)
      }
      await fixture.store.close()
      for suffix in ["", "-wal"] {
        try? FileManager.default.removeItem(atPath: fixture.file + suffix)
        try FileManager.default.moveItem(atPath: fixture.file + ".copy" + suffix, toPath: fixture.file + suffix)
      }
      let again = try Store(directory: directory, now: Fixture.epoch) { _ in }
      #expect(try await again.countCrash(ofRun: "a") == CountedCrash(run: "a", jobs: 2))
      #expect(try await again.records(ids).map(\.crashMarks) == [1, 0, 1, 0, 0, 0])
      try await again.endCrash(ofRun: "another")
      #expect(try await !again.countCrash(ofRun: "a").isOver)
      try await again.endCrash(ofRun: "a")
      #expect(try await again.countCrash(ofRun: "a") == CountedCrash(run: "a", jobs: 2, isOver: true))
      #expect(try await again.countCrash(ofRun: "b") == CountedCrash(run: "b", jobs: 2))
      #expect(try await again.records(ids).map(\.crashMarks) == [2, 0, 2, 0, 0, 0])
      await again.close()
    }
  }

  @Test("a kill without a mark adds no mark, and a marked end is not counted as a crash")
  func apart() async throws {
    let fixture = try Fixture()
    let record = try await running(fixture, 1, marks: 0)[0]
    try await fixture.settle(record, .requeue) { $0.crashed = true }
    var stored = try await fixture.record(record.job.id)
    #expect(stored.crashMarks == 0 && stored.crashes == 1)
    let again = try await fixture.claim(record.job.id)
    try await fixture.store.countCrash(ofRun: "a")
    try await fixture.settle(again, .requeue) { settlement in
      settlement.crashed = true
      settlement.isMarked = true
    }
    stored = try await fixture.record(record.job.id)
    #expect(stored.crashMarks == 1 && stored.crashes == 1 && stored.job.attempt == 0)
  }

  @Test(
    "an attempt that ends normally clears the marks; one that was killed or stopped does not",
    arguments: [
      (JobEvent.complete, 0), (.fail, 0), (.postpone, 0), (.pause, 0), (.cancel, 0), (.requeue, 2),
    ])
  func ends(_ event: JobEvent, _ expected: Int) async throws {
    let fixture = try Fixture()
    for isCutOff in [false, true] {
      let record = try await running(fixture, 1, marks: 2)[0]
      try await fixture.settle(record, event) { settlement in
        settlement.failure = event == .fail || event == .postpone ? Fixture.failure : nil
        settlement.attempt.isEndUnknown = isCutOff
      }
      let id = record.job.id
      #expect(try await fixture.record(id).crashMarks == (isCutOff ? 2 : expected), "\(event), cut off: \(isCutOff)")
      if [.postpone, .requeue, .pause].contains(event) {
        _ = await fixture.store.transition([id], .cancel, at: Fixture.at(3))
      }
      _ = await fixture.store.remove([id], at: Fixture.at(4))
      try await fixture.store.countCrash(ofRun: "between \(isCutOff)")
    }
  }

  @Test("an explicit retry clears the marks in every waiting state; pause and resume do not")
  func retry() async throws {
    let fixture = try Fixture()
    let records = try await running(fixture, 3, marks: 2)
    let ids = records.map(\.job.id)
    try await fixture.settle(records[0], .fail) { settlement in
      settlement.failure = Fixture.failure
      settlement.attempt.isEndUnknown = true
    }
    try await fixture.settle(records[1], .requeue) { $0.crashed = true }
    try await fixture.settle(records[2], .requeue) { $0.crashed = true }
    _ = await fixture.store.transition([ids[2]], .pause, at: Fixture.at(3))
    _ = await fixture.store.transition([ids[2]], .resume, at: Fixture.at(4))
    #expect(try await marks(fixture, ids) == [2, 2, 2])
    let results = await fixture.store.transition(ids, .retry, at: Fixture.at(5))
    #expect(results.allSatisfy { (try? $0.get()) != nil })
    #expect(try await marks(fixture, ids) == [0, 0, 0])
    #expect(try await fixture.store.hasJobsToRunAlone() == false)
  }

  @Test("from the second mark on a job is no ordinary candidate and runs alone")
  func candidates() async throws {
    let fixture = try Fixture()
    func ordinary() async throws -> [JobID] {
      try await fixture.store.candidates(now: Fixture.at(100), excludingOrigins: [], limit: 9).map(\.id)
    }
    func alone(_ seconds: Double = 100, _ excluded: Set<String> = []) async throws -> [JobID] {
      try await fixture.store.candidatesToRunAlone(now: Fixture.at(seconds), excludingOrigins: excluded, limit: 9)
        .map(\.id)
    }
    let once = try await running(fixture, 1, marks: 1)[0]
    try await fixture.settle(once, .requeue) { $0.crashed = true }
    #expect(try await ordinary() == [once.job.id])
    #expect(try await alone() == [])
    #expect(try await !fixture.store.hasJobsToRunAlone())
    _ = await fixture.store.remove([once.job.id], at: Fixture.at(3))

    let other = try await fixture.add(Fixture.spec(99))
    let records = try await running(fixture, 4, marks: 2)
    let ids = records.map(\.job.id)
    try await fixture.settle(records[0], .requeue) { $0.crashed = true }
    try await fixture.settle(records[1], .postpone) { settlement in
      settlement.crashed = true
      settlement.retryAt = Fixture.at(50)
    }
    try await fixture.settle(records[2], .fail) { settlement in
      settlement.failure = Fixture.failure
      settlement.crashed = true
    }
    #expect(try await ordinary() == [other])
    #expect(try await alone() == [ids[0], ids[1]])
    #expect(try await alone(49) == [ids[0]])
    #expect(try await alone(100, ["https://example.org:443"]) == [])
    #expect(try await fixture.store.hasJobsToRunAlone())
    _ = await fixture.store.transition([ids[1]], .pause, at: Fixture.at(3))
    #expect(try await alone() == [ids[0]])
    // A claimed record says that it runs alone.
    #expect(try await fixture.claim(ids[0]).runsAlone)
    #expect(try await !fixture.claim(other).runsAlone)
  }

  @Test("such jobs also set the wake time")
  func times() async throws {
    let fixture = try Fixture()
    let records = try await running(fixture, 2, marks: 2)
    try await fixture.settle(records[0], .postpone) { settlement in
      settlement.crashed = true
      settlement.retryAt = Fixture.at(50)
    }
    let origin = "https://example.org:443"
    func times(_ seconds: Double, closed: Set<String> = []) async throws -> WaitingTimes {
      try await fixture.store.waitingTimes(
        now: Fixture.at(seconds), excludingOrigins: closed, closedOrigins: closed)
    }
    #expect(try await times(10) == WaitingTimes(nextRetry: Fixture.at(50)))
    #expect(try await times(50) == WaitingTimes())
    #expect(try await times(10, closed: [origin]) == WaitingTimes(closedOrigins: [origin: Fixture.at(50)]))
    try await fixture.settle(records[1], .requeue) { $0.crashed = true }
    #expect(try await times(10, closed: [origin]) == WaitingTimes(closedOrigins: [origin: Fixture.at(10)]))
  }
}
