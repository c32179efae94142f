import Foundation
import Synchronization
import Testing
import TransferAPI

@testable import Store

@Suite struct DeliveryTests {
  private static var targets: DeliveryTargets {
    var targets = DeliveryTargets()
    (targets.jobCompleted, targets.jobFailed, targets.batchEnd) = (["done"], ["failed", "all"], ["end", "all"])
    return targets
  }

  private final class Signals: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  private func fixture(_ targets: DeliveryTargets = targets) throws -> (Fixture, Signals) {
    let (fixture, signals) = (try Fixture(), Signals())
    fixture.store.setDeliveryTargets(targets) { signals.add() }
    return (fixture, signals)
  }

  private func add(_ fixture: Fixture, _ numbers: ClosedRange<Int>, batch: String = "b") async throws -> [JobID] {
    let specs = numbers.map { number -> JobSpec in
      var spec = Fixture.spec(number)
      spec.batch = batch
      return spec
    }
    return try await fixture.store.submit(specs, at: Fixture.epoch).map { try $0.get().id }
  }

  /// What is due for all targets, in the order of the events.
  private func due(_ fixture: Fixture, at seconds: Double) async throws -> [PendingDelivery] {
    var due: [PendingDelivery] = []
    for target in try await fixture.store.deliveryTimes().keys {
      due += try await fixture.store.dueDeliveries(to: target, now: Fixture.at(seconds), limit: 100)
    }
    return due.sorted { $0.id < $1.id }
  }

  /// A job that fails at this time, and so an event for "failed" and one for "all".
  private func fail(_ fixture: Fixture, _ number: Int, at seconds: Double) async throws {
    let id = try await fixture.add(Fixture.spec(number))
    try await fixture.settle(fixture.claim(id), .fail, at: seconds) { $0.failure = Fixture.failure }
  }

  @Test("a batch ends with its last unfinished job, whatever that one's end is, and only once")
  func ends() async throws {
    let (fixture, signals) = try fixture()
    let ids = try await add(fixture, 1...5)
    try await fixture.settle(fixture.claim(ids[0]), .complete)
    try await fixture.settle(fixture.claim(ids[1]), .fail) { $0.failure = Fixture.failure }
    _ = await fixture.store.transition([ids[2]], .pause, at: Fixture.at(2))
    _ = await fixture.store.transition([ids[3]], .cancel, at: Fixture.at(2))
    try await fixture.settle(fixture.claim(ids[4]), .postpone) { $0.failure = Fixture.failure }
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty && signals.count == 0)
    _ = await fixture.store.remove([ids[4]], at: Fixture.at(3))
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty)
    _ = await fixture.store.transition([ids[2]], .cancel, at: Fixture.at(4))
    let end = try #require(try await fixture.store.endedBatches(limit: 10).first)
    #expect(end.batch.name == "b" && signals.count == 1)
    #expect(try await fixture.store.report(end, payload: "{}", at: Fixture.at(5)))
    #expect(try await fixture.store.report(end, payload: "{}", at: Fixture.at(5)) == false)
    let due = try await due(fixture, at: 5)
    let mine = due.filter { $0.event == .batchEnd }
    #expect(mine.map(\.target) == ["end", "all"] && mine.allSatisfy { $0.payload == "{}" && $0.subject == "b" })
    #expect(Set(due.map(\.message)).count == due.count)
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty)
  }

  @Test("a batch that gets new jobs, or whose jobs are retried, has not ended, and ends again")
  func again() async throws {
    let (fixture, _) = try fixture()
    let first = try await add(fixture, 1...1)[0]
    try await fixture.settle(fixture.claim(first), .fail) { $0.failure = Fixture.failure }
    let early = try #require(try await fixture.store.endedBatches(limit: 10).first)
    let second = try await add(fixture, 2...2)[0]
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty)
    #expect(try await fixture.store.report(early, payload: "{}", at: Fixture.at(5)) == false)
    try await fixture.settle(fixture.claim(second), .complete)
    let later = try #require(try await fixture.store.endedBatches(limit: 10).first)
    #expect(later.id > early.id)
    _ = await fixture.store.transition([first], .retry, at: Fixture.at(6))
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty)
  }

  @Test("nothing is stored while nobody wants to know")
  func unwanted() async throws {
    let (fixture, signals) = try fixture(.none)
    let id = try await add(fixture, 1...1)[0]
    try await fixture.settle(fixture.claim(id), .complete)
    #expect(try await fixture.store.endedBatches(limit: 10).isEmpty && signals.count == 0)
    #expect(try await fixture.store.deliveryTimes().isEmpty)
  }

  @Test("ends of jobs become deliveries in the transaction that ends them, with the job as JSON")
  func jobs() async throws {
    let (fixture, _) = try fixture()
    let ids = [try await fixture.add(Fixture.spec(1)), try await fixture.add(Fixture.spec(2))]
    try await fixture.settle(fixture.claim(ids[0]), .complete)
    try await fixture.settle(fixture.claim(ids[1]), .fail) { $0.failure = Fixture.failure }
    let due = try await due(fixture, at: 5)
    #expect(
      due.map(\.target) == ["done", "failed", "all"] && due.map(\.event) == [.jobCompleted, .jobFailed, .jobFailed])
    let json = try #require(try JSONSerialization.jsonObject(with: Data(due[1].payload.utf8)) as? [String: Any])
    #expect(json["event"] as? String == "job-failed" && json["id"] as? Int64 == ids[1].rawValue)
    #expect(json["state"] as? String == "failed")
    // No hook: nothing for commands.
    #expect(try await fixture.store.pendingHooks(after: 0, limit: 10).isEmpty)
  }

  @Test("a failed attempt holds up everything for the same target, new events too, until one has arrived")
  func postpones() async throws {
    let (fixture, _) = try fixture()
    let store = fixture.store
    for number in 1...2 { try await fail(fixture, number, at: 2) }
    let first = try #require(try await store.dueDeliveries(to: "failed", now: Fixture.at(5), limit: 10).first)
    #expect(try await store.postpone(first, until: Fixture.at(100), givingUpThrough: Fixture.at(1)) == 0)
    try await fail(fixture, 3, at: 50)
    #expect(try await due(fixture, at: 99).map(\.target) == ["all", "all", "all"])
    for other in try await due(fixture, at: 99) { try await store.settle(other) }
    #expect(try await store.deliveryTimes() == ["failed": Fixture.at(100)])
    // The second failure counts on, whichever event it was.
    let again = try await due(fixture, at: 100)
    #expect(again.map(\.attempts) == [1, 1, 1] && again[0].message == first.message)
    #expect(try await store.postpone(again[1], until: Fixture.at(200), givingUpThrough: Fixture.at(1)) == 0)
    #expect(try await due(fixture, at: 199).isEmpty)
    let last = try await due(fixture, at: 200)
    #expect(last.map(\.attempts) == [2, 2, 2])
    // It is there again: nothing waits.
    try await store.settle(last[0])
    try await fail(fixture, 4, at: 201)
    #expect(try await store.deliveryTimes() == ["failed": Fixture.at(200), "all": Fixture.at(201)])
    #expect(try await due(fixture, at: 201).map(\.attempts) == [0, 0, 0, 0])
  }

  /// A wrong clock at the start of the machine silenced a target for as long as the clock had been ahead.
  @Test("after the clock was set back, a target does not wait, and new events do not wait with the old ones")
  func setBack() async throws {
    let (fixture, _) = try fixture()
    let store = fixture.store
    let year = 365.0 * 86_400
    try await fail(fixture, 1, at: year)
    let first = try #require(try await store.dueDeliveries(to: "failed", now: Fixture.at(year), limit: 10).first)
    #expect(try await store.postpone(first, until: Fixture.at(year + 9), givingUpThrough: Fixture.at(1)) == 0)
    try await fail(fixture, 2, at: 100)
    #expect(try await due(fixture, at: 100).isEmpty)
    let longest = FollowUpWaits(fileAction: 300, remoteCleanup: 3600, delivery: 21_600)
    try await store.replanFollowUps(longest: longest, now: Fixture.at(100))
    let left = try await due(fixture, at: 100)
    #expect(left.map(\.target) == ["failed", "all", "failed", "all"])
    #expect(left.allSatisfy { $0.createdAt == Fixture.at(100) })
  }

  /// Events that were given up one by one, each after a try of its own, kept a receiver busy that answers nothing.
  @Test("old events of a target are given up together, and the others wait")
  func givesUp() async throws {
    let (fixture, _) = try fixture()
    let store = fixture.store
    for number in 1...3 { try await fail(fixture, number, at: Double(number * 10)) }
    let first = try #require(try await store.dueDeliveries(to: "failed", now: Fixture.at(90), limit: 10).first)
    #expect(try await store.postpone(first, until: Fixture.at(100), givingUpThrough: Fixture.at(20)) == 2)
    #expect(try await store.dueDeliveries(to: "failed", now: Fixture.at(99), limit: 10).isEmpty)
    let left = try await store.dueDeliveries(to: "failed", now: Fixture.at(100), limit: 10)
    #expect(left.map(\.createdAt) == [Fixture.at(30)] && left.map(\.attempts) == [1])
    #expect(try await store.dueDeliveries(to: "all", now: Fixture.at(99), limit: 10).count == 3)
  }

  @Test("of too many events for a target the oldest are dropped, and it is reported")
  func drops() async throws {
    let fixture = try Fixture()
    let dropped = Mutex<[String: Int]>([:])
    var targets = DeliveryTargets()
    (targets.jobCompleted, targets.jobFailed, targets.maximumWaiting) = (["done"], ["failed"], 3)
    fixture.store.setDeliveryTargets(
      targets, onBatchEnd: {},
      onDrop: { target, count in dropped.withLock { $0[target, default: 0] += count } })
    let done = try await fixture.add(Fixture.spec(9))
    try await fixture.settle(fixture.claim(done), .complete)
    for number in 1...3 { try await fail(fixture, number, at: Double(number * 10)) }
    #expect(dropped.withLock { $0 }.isEmpty)
    // In back-off, too.
    let first = try #require(try await fixture.store.dueDeliveries(to: "failed", now: Fixture.at(90), limit: 1).first)
    _ = try await fixture.store.postpone(first, until: Fixture.at(100), givingUpThrough: Fixture.at(0))
    for number in 4...5 { try await fail(fixture, number, at: Double(number * 10)) }
    let left = try await fixture.store.dueDeliveries(to: "failed", now: Fixture.at(100), limit: 10)
    #expect(left.map(\.createdAt) == [30, 40, 50].map { Fixture.at($0) })
    #expect(left.map(\.attempts) == [1, 1, 1])
    #expect(dropped.withLock { $0 } == ["failed": 2])
    #expect(try await fixture.store.dueDeliveries(to: "done", now: Fixture.at(100), limit: 10).count == 1)
  }

  @Test("the span of a batch is that of its jobs")
  func span() async throws {
    let (fixture, _) = try fixture()
    let ids = try await add(fixture, 1...2)
    let batch = BatchID(owner: Fixture.owner, name: "b")
    #expect(try await fixture.store.span(of: batch).start == nil)
    try await fixture.settle(fixture.claim(ids[0], at: 1), .complete, at: 2)
    try await fixture.settle(fixture.claim(ids[1], at: 3), .complete, at: 9)
    let span = try await fixture.store.span(of: batch)
    #expect(span.start == Fixture.at(1) && span.end == Fixture.at(9))
  }
}
