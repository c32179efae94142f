import Foundation
import Testing

@testable import Store

@Suite struct WaitingTimesTests {
  private static let (open, closed, idle) = ("https://open:443", "https://closed:443", "https://idle:443")

  private func retrying(_ fixture: Fixture, _ number: Int, _ origin: String, at seconds: Double) async throws {
    let record = try await fixture.claim(try await fixture.add(Fixture.spec(number, origin: origin)))
    try await fixture.settle(record, .postpone) { $0.retryAt = Fixture.at(seconds) }
  }

  @Test("a retry waits for its own time, with a closed origin also for the opening; a due one does not wait")
  func times() async throws {
    let fixture = try Fixture()
    func times(_ now: Double, excluding: Set<String>, closed: Set<String>) async throws -> WaitingTimes {
      try await fixture.store.waitingTimes(
        now: Fixture.at(now), excludingOrigins: excluding, closedOrigins: closed)
    }
    for (number, seconds) in [40.0, 5, 30].enumerated() { try await retrying(fixture, number, Self.open, at: seconds) }
    for (number, seconds) in [20.0, 8].enumerated() {
      try await retrying(fixture, 10 + number, Self.closed, at: seconds)
    }
    #expect(try await times(10, excluding: [], closed: []) == WaitingTimes(nextRetry: Fixture.at(20)))
    #expect(try await times(40, excluding: [], closed: []) == WaitingTimes())
    #expect(
      try await times(10, excluding: [Self.closed], closed: [Self.closed, Self.idle])
        == WaitingTimes(nextRetry: Fixture.at(30), closedOrigins: [Self.closed: Fixture.at(10)]))
    #expect(
      try await times(1, excluding: [Self.closed, Self.open], closed: [Self.closed])
        == WaitingTimes(closedOrigins: [Self.closed: Fixture.at(8)]))
    // A full origin has no opening time.
    #expect(try await times(1, excluding: [Self.open, Self.closed], closed: []) == WaitingTimes())
    try await fixture.add(Fixture.spec(20, origin: Self.closed))
    #expect(
      try await times(1, excluding: [Self.closed], closed: [Self.closed])
        == WaitingTimes(nextRetry: Fixture.at(5), closedOrigins: [Self.closed: Fixture.at(1)]))
  }
}
