import Foundation
import Testing
import TransferAPI
import WireValues

@testable import Store

/// An attempt from its claim to its end.
@Suite struct AttemptTests {
  @Test("a claim starts an attempt and increments the fence")
  func claim() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    let first = try await fixture.claim(id)
    #expect(first == (try await fixture.record(id)))
    #expect(first.fence == 1 && first.attemptNumber == 1 && first.job.attempt == 1)
    #expect(first.job.startedAt == Fixture.at(1))
    try await fixture.settle(first, .postpone) { $0.retryAt = Fixture.at(30) }
    let second = try await fixture.claim(id, at: 40)
    #expect(second.fence == 2 && second.attemptNumber == 2 && second.job.attempt == 2)
    #expect(second.job.startedAt == Fixture.at(1))
    #expect(second.job.retryAt == nil)
    #expect(second.partToken == first.partToken)
    let attempts = try #require(try await fixture.store.detail(id)).attempts
    #expect(attempts.map(\.number) == [1, 2])
    #expect(attempts.map(\.startedAt) == [Fixture.at(1), Fixture.at(40)])
    #expect(attempts.map(\.endedAt) == [Fixture.at(2), nil])
  }

  @Test("a claimed job whose count of attempts began anew knows what earlier attempts received")
  func receivedBefore() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    let received: [(Int64, Int64)] = [(0, 10), (10, 5), (0, 7), (0, 0)]
    for (index, attempt) in received.enumerated() {
      let record = try await fixture.claim(id)
      if index == 0 { #expect(record.receivedBefore == ReceivedBefore()) }
      try await fixture.settle(record, .postpone) {
        ($0.attempt.resumedFrom, $0.attempt.bytesReceived) = attempt
        $0.resetAttempts = index == 1
      }
    }
    #expect(try await fixture.claim(id).receivedBefore == ReceivedBefore(attempts: 3, beginnings: 2))
  }

  @Test("jobs that cannot be claimed are left out", arguments: JobState.allCases)
  func claimable(state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state)
    let other = try await fixture.add(Fixture.spec(2))
    let claimed = try await fixture.store.claim([999, id, other], at: Fixture.at(100))
    #expect(claimed.map(\.job.id) == (state == .queued || state == .retrying ? [id, other] : [other]))
  }

  @Test("of two simultaneous claims of a job one succeeds")
  func race() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    let won = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<16 { group.addTask { try await fixture.store.claim([id], at: Fixture.at(1)).count } }
      return try await group.reduce(0, +)
    }
    #expect(won == 1)
  }

  @Test("a late writer with an old fence changes nothing")
  func fence() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    let old = try await fixture.claim(id)
    try await fixture.settle(old, .requeue)
    let new = try await fixture.claim(id)
    let checkpoint = Checkpoint(id: id, fence: old.fence, bytesDone: 99, bytesTotal: 100, destination: "/x")
    #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(3)) == false)
    #expect(try await fixture.settle(old, .complete) == false)
    #expect(try await fixture.record(id) == new)
    #expect(try await fixture.settle(new, .complete))
    #expect(try await fixture.settle(new, .complete) == false)
  }

  @Test("a checkpoint stores bytes, resume data, name and the file about to be renamed")
  func checkpoint() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.destination = "/downloads/"
    spec.batch = "b"
    let id = try await fixture.add(spec)
    let record = try await fixture.claim(id)
    let identity = FileIdentity(device: .max, inode: 1 << 63)
    let data = Data([0, 1, 255])
    var checkpoint = Checkpoint(
      id: id, fence: record.fence, bytesDone: 5, bytesTotal: nil, resumeData: data,
      destination: "/downloads/n",
      finishing: identity)
    #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(2)))
    var stored = try await fixture.record(id)
    #expect(stored.resumeData == data && stored.finishing == identity)
    #expect(
      stored.job.destination == "/downloads/n" && stored.job.bytesDone == 5 && stored.job.bytesTotal == nil)

    checkpoint = Checkpoint(id: id, fence: record.fence, bytesDone: 7, bytesTotal: 9)
    #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(2)))
    stored = try await fixture.record(id)
    #expect(stored.resumeData == data && stored.finishing == nil)
    #expect(
      stored.job.destination == "/downloads/n" && stored.job.bytesDone == 7 && stored.job.bytesTotal == 9)
    let batch = try #require(try await fixture.store.batch("b"))
    #expect(batch.bytesDone == 7 && batch.bytesTotal == 9)
    #expect(fixture.events.count == 2)
  }

  @Test("a checkpoint with another job's destination is refused")
  func nameTaken() async throws {
    let fixture = try Fixture()
    let holder = try await fixture.add(Fixture.spec(1))
    var spec = Fixture.spec(2)
    spec.destination = "/downloads/"
    let record = try await fixture.claim(try await fixture.add(spec))
    let checkpoint = Checkpoint(
      id: record.job.id, fence: record.fence, bytesDone: 5, bytesTotal: 5, destination: "/downloads/1")
    await #expect(throws: StoreError.destinationTaken(path: "/downloads/1", by: holder)) {
      try await fixture.store.checkpoint(checkpoint, at: Fixture.at(2))
    }
    #expect(try await fixture.record(record.job.id) == record)
  }

  @Test("a completed job has all bytes, no resume data and no error")
  func complete() async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: .retrying)
    let record = try await fixture.claim(id)
    #expect(record.job.error == Fixture.failure)
    try await fixture.settle(record, .complete, at: 8) { settlement in
      settlement.resumeData = .set(Data([1]))
      settlement.bytesDone = 99
    }
    let stored = try await fixture.record(id)
    #expect(stored.job.bytesDone == 100 && stored.job.finishedAt == Fixture.at(8))
    #expect(stored.resumeData == nil && stored.finishing == nil && stored.job.error == nil)
  }

  @Test("a postponed job keeps error, time and resume data; progress resets the attempts")
  func postpone() async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: .retrying)
    var record = try await fixture.claim(id)
    try await fixture.settle(record, .postpone) { settlement in
      settlement.failure = Fixture.failure
      settlement.retryAt = Fixture.at(12)
      settlement.retryDelay = .seconds(10)
      settlement.resumeData = .set(Data([7]))
      settlement.resetAttempts = true
    }
    record = try await fixture.record(id)
    #expect(record.job.retryAt == Fixture.at(12) && record.retryDelayMilliseconds == 10_000)
    #expect(record.job.attempt == 1 && record.attemptNumber == 2)
    #expect(record.job.error == Fixture.failure && record.resumeData == Data([7]))
    #expect(record.job.bytesDone == 10 && record.job.bytesTotal == 100 && record.job.finishedAt == nil)
  }

  @Test("an attempt that failed with a full disk does not count, not even as a crash")
  func uncounted() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    for round in 1...5 {
      let record = try await fixture.claim(id, at: Double(10 * round))
      try await fixture.settle(record, .postpone, at: Double(10 * round + 1)) { $0.isUncounted = true }
      let stored = try await fixture.record(id)
      #expect(stored.job.attempt == 0 && stored.crashes == 0 && stored.attemptNumber == round)
    }
  }

  @Test("a crash counts as a crash instead of an attempt, until an attempt ends normally")
  func crashes() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    for crash in 1...3 {
      let event: JobEvent = crash == 3 ? .postpone : .requeue
      let record = try await fixture.claim(id)
      try await fixture.settle(record, event) { settlement in
        settlement.crashed = true
        settlement.attempt.outcome = .interrupted
      }
      let stored = try await fixture.record(id)
      #expect(stored.crashes == crash && stored.job.attempt == 0 && stored.attemptNumber == crash)
    }
    let attempts = try #require(try await fixture.store.detail(id)).attempts
    #expect(attempts.map(\.endedAt) == [nil, nil, nil])
    #expect(attempts.map(\.outcome) == [.interrupted, .interrupted, .interrupted])
    try await fixture.settle(fixture.claim(id, at: 10), .requeue)
    #expect(try await fixture.record(id).crashes == 0)
  }

  @Test("an attempt's row describes its course")
  func attemptRow() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    var end = AttemptEnd()
    end.outcome = .failed
    end.resumedFrom = 3
    end.bytesReceived = 4
    end.httpStatus = 206
    end.remoteAddress = "[::1]:80"
    end.networkProtocol = "h2"
    end.timings = Attempt.Timings(
      nameLookup: 0.1, connect: 0.2, tls: 0.3, firstByte: 0.4, total: 0.5, connectionReused: true)
    end.error = Fixture.failure
    let record = try await fixture.claim(id)
    try await fixture.settle(record, .fail) { [end] settlement in
      settlement.failure = Fixture.failure
      settlement.attempt = end
    }
    let attempt = try #require(try await fixture.store.detail(id)).attempts[0]
    #expect(
      attempt
        == Attempt(
          number: 1, startedAt: Fixture.at(1), endedAt: Fixture.at(2), outcome: .failed, resumedFrom: 3,
          bytesReceived: 4, httpStatus: 206, remoteAddress: "[::1]:80", networkProtocol: "h2",
          timings: end.timings, error: Fixture.failure))
  }

  @Test("an attempt under way is the last one of its job; its row is written when it ends, also after a restart")
  func underWay() async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: .retrying)
    let record = try await fixture.claim(id, at: 70)
    func rows(_ store: Store) async throws -> [Int] {
      try await store.read { db in try Int.fetchAll(db, sql: "SELECT number FROM attempt WHERE job = \(id)") }
    }
    #expect(try await rows(fixture.store) == [1])
    #expect(try await fixture.store.detail(id)?.attempts.last == Attempt(number: 2, startedAt: Fixture.at(70)))
    await fixture.store.close()
    let store = try Store(directory: fixture.directory, now: Fixture.at(100)) { _ in }
    #expect(try await store.detail(id)?.attempts.last == Attempt(number: 2, startedAt: Fixture.at(70)))
    var settlement = Settlement(id: id, fence: record.fence, event: .requeue, bytesDone: 0, bytesTotal: nil)
    settlement.attempt.outcome = .interrupted
    settlement.attempt.isEndUnknown = true
    settlement.crashed = true
    #expect(try await store.settle(settlement, at: Fixture.at(101)))
    #expect(try await rows(store) == [1, 2])
    let last = try #require(try await store.detail(id)?.attempts.last)
    #expect(last == Attempt(number: 2, startedAt: Fixture.at(70), outcome: .interrupted))
    await store.close()
  }

  @Test("a group of checkpoints is stored together; each has its own fence, and a name that is taken refuses all")
  func checkpoints() async throws {
    let fixture = try Fixture()
    let first = try await fixture.claim(fixture.add(Fixture.spec(1)))
    let second = try await fixture.claim(fixture.add(Fixture.spec(2)))
    let third = try await fixture.add(Fixture.spec(3))
    func checkpoint(_ record: JobRecord, fence: Int64? = nil, name: String? = nil) -> Checkpoint {
      Checkpoint(
        id: record.job.id, fence: fence ?? record.fence, bytesDone: 5, bytesTotal: 5, destination: name,
        finishing: FileIdentity(device: 1, inode: 2))
    }
    let stored = try await fixture.store.checkpoint(
      [checkpoint(first), checkpoint(second, fence: 0), checkpoint(second)], at: Fixture.at(2))
    #expect(stored == [true, false, true])
    #expect(try await fixture.record(first.job.id).finishing == FileIdentity(device: 1, inode: 2))
    #expect(try await fixture.record(second.job.id).job.bytesDone == 5)
    await #expect(throws: StoreError.destinationTaken(path: "/downloads/3", by: third)) {
      _ = try await fixture.store.checkpoint(
        [checkpoint(first, name: "/downloads/new"), checkpoint(second, name: "/downloads/3")], at: Fixture.at(3))
    }
    #expect(try await fixture.record(first.job.id).job.destination == "/downloads/1")
    #expect(try await fixture.store.checkpoint([], at: Fixture.at(4)) == [])
  }

  @Test("at most the 100 newest attempts are listed, the newest last")
  func newestAttempts() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    for _ in 0..<103 { try await fixture.settle(fixture.claim(id), .requeue) }
    let attempts = try #require(try await fixture.store.detail(id)).attempts
    #expect(attempts.map(\.number) == Array(4...103))
  }

  @Test("retry resets the attempts and keeps the bytes of a failed job; a cancelled one has none")
  func retry() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    try await fixture.settle(fixture.claim(id), .fail) { settlement in
      settlement.failure = Fixture.failure
      settlement.resumeData = .set(Data([1]))
    }
    _ = try await fixture.store.transition([id], .retry, at: Fixture.at(3))[0].get()
    var record = try await fixture.record(id)
    #expect(record.job.attempt == 0 && record.job.error == nil && record.job.finishedAt == nil)
    #expect(record.job.bytesDone == 10 && record.resumeData == Data([1]))
    _ = try await fixture.store.transition([id], .cancel, at: Fixture.at(4), reason: "no need")[0].get()
    record = try await fixture.record(id)
    #expect(record.job.error == JobFailure(code: .cancelled, message: "no need", transient: false))
    #expect(record.job.bytesDone == 0 && record.resumeData == nil && record.job.finishedAt == Fixture.at(4))
    _ = try await fixture.store.transition([id], .retry, at: Fixture.at(5))[0].get()
    #expect(try await fixture.record(id).job.state == .queued)
  }

  @Test("retry is refused if another job has the destination meanwhile")
  func retryTaken() async throws {
    let fixture = try Fixture()
    let old = try await fixture.job(1, in: .failed)
    let new = try await fixture.add(Fixture.spec(1))
    let answers = await fixture.store.transition([old, new], .retry, at: Fixture.at(3))
    #expect(answers == [.failure(.destinationTaken(path: "/downloads/1", by: new)), .success(.queued)])
    #expect(try await fixture.record(old).job.state == .failed)
  }
}
