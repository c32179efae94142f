import Foundation
import TestSupport
import Testing

@testable import Store
@testable import transferd

@Suite struct WakeTimeTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var nextRetry: Double?
    var closedOrigins: [String: Double] = [:]
    var reopenTimes: [String: Double] = [:]
    var expected: Double?
  }

  static let rows: [Row] = [
    Row(testDescription: "no job waits", expected: nil),
    Row(testDescription: "a retry of an open origin", nextRetry: 3, expected: 3),
    Row(
      testDescription: "a due retry at a closed origin starts when the origin opens", closedOrigins: ["a": 0],
      reopenTimes: ["a": 120], expected: 120),
    Row(
      testDescription: "a retry that is due after the origin opens starts at its own time", closedOrigins: ["a": 300],
      reopenTimes: ["a": 120], expected: 300),
    Row(
      testDescription: "a closed origin without waiting jobs needs no wake time", reopenTimes: ["a": 120], expected: nil
    ),
    Row(
      testDescription: "the earliest time wins", nextRetry: 50, closedOrigins: ["a": 0, "b": 40],
      reopenTimes: ["a": 120, "b": 30], expected: 40),
    Row(
      testDescription: "an origin that opened meanwhile needs no wake time", closedOrigins: ["a": 0], expected: nil
    ),
    Row(
      testDescription: "a wake time is never in the past", nextRetry: -5, closedOrigins: ["a": -5, "b": 0],
      reopenTimes: ["a": -1, "b": 0],
      expected: nil),
  ]

  static let now = Date(timeIntervalSince1970: 1_000_000)

  @Test("the wake time is the earliest future time at which a job can start without another event", arguments: rows)
  func time(_ row: Row) {
    let at = { Self.now.addingTimeInterval($0) }
    let times = WaitingTimes(nextRetry: row.nextRetry.map(at), closedOrigins: row.closedOrigins.mapValues(at))
    #expect(WakeTime.time(times, reopenTimes: row.reopenTimes.mapValues(at), now: Self.now) == row.expected.map(at))
  }

  @Test("a postponed job is due when its origin is open again")
  func putOff() {
    let (soon, late) = (Self.now.addingTimeInterval(1), Self.now.addingTimeInterval(120))
    #expect(WakeTime.time(ofRetryAt: soon, reopenTime: nil) == soon)
    #expect(WakeTime.time(ofRetryAt: soon, reopenTime: late) == late)
    #expect(WakeTime.time(ofRetryAt: late, reopenTime: soon) == late)
  }

  /// Uses the store, the governor and the admission as the scheduler does, with a simulated clock, and counts the queries.
  @Test("two hours of due retries at a closed and a full origin need one query for each change")
  func looks() async throws {
    let directory = try TemporaryDirectory()
    let store = try Store(directory: directory.path("state"), now: Self.now) { _ in }
    let (closed, full) = ("http://closed:80", "http://full:80")
    let specs = (0..<20).map { number in
      let origin = number < 10 ? closed : full
      return JobSpec(owner: 0, url: "\(origin)/\(number)", origin: origin, destination: "/d/\(number)")
    }
    let ids = try await store.submit(specs, in: .everything, at: Self.now).map { try $0.get().id }
    for record in try await store.claim(ids, at: Self.now) {
      var settlement = Settlement(
        id: record.job.id, fence: record.fence, event: .postpone, bytesDone: 0, bytesTotal: nil)
      settlement.retryDelay = .seconds(1)
      try await store.settle(settlement, at: Self.now)
    }
    var governor = OriginGovernor(now: Self.now)
    _ = governor.close(closed, for: .seconds(7200), now: Self.now)
    let admission = Admission(maxActive: 16, maxPerOrigin: .fixed(8))
    var load = Admission.Load()
    for _ in 0..<8 { load.add(full) }

    var now = Self.now
    var looks: [Double] = []
    while looks.count < 100 {
      looks.append(now.timeIntervalSince(Self.now))
      let (time, capacity) = (now, { [governor, now] name in governor.capacity(of: name, now: now) })
      let reopenTimes = governor.reopenTimes(after: time)
      let excluded = admission.saturated(load, capacity: capacity).union(reopenTimes.keys)
      let found = try await store.candidates(now: time, excludingOrigins: excluded, limit: 512)
      if !found.isEmpty {
        #expect(found.allSatisfy { $0.origin == closed })
        break
      }
      let times = try await store.waitingTimes(
        now: time, excludingOrigins: excluded, closedOrigins: Set(reopenTimes.keys))
      now = try #require(WakeTime.time(times, reopenTimes: reopenTimes, now: time))
    }
    // At the start, and when the closed origin opens.
    #expect(looks == [0, 7200])
    await store.close()
  }
}
