import Foundation
import Testing
import TransferAPI

@testable import Store

/// The retries that become due when the network returns.
@Suite struct NetworkRetryTests {
  @Test(
    "retries that waited for the network become due; delays for a server or a disk stay",
    arguments: [
      (JobFailure.Code.connect, true), (.dns, true), (.timeout, true), (.stalled, true), (.network, true),
      (.http(503), false),
      (.diskFull, false), (.truncated, false),
    ])
  func due(_ code: JobFailure.Code, _ isHastened: Bool) async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Fixture.spec(1))
    try await fixture.settle(fixture.claim(id), .postpone) { settlement in
      settlement.retryAt = Fixture.at(3600)
      settlement.retryDelay = .seconds(3598)
      settlement.failure = JobFailure(code: code, message: "no", transient: true)
    }
    let count = fixture.events.count
    #expect(try await fixture.store.makeNetworkRetriesDue(at: Fixture.at(10)) == (isHastened ? 1 : 0))
    #expect(try await fixture.record(id).job.retryAt == Fixture.at(isHastened ? 10 : 3600))
    #expect(fixture.events.count == count)
    let due = try await fixture.store.candidates(now: Fixture.at(10), excludingOrigins: [], limit: 10)
    #expect(due.map(\.id) == (isHastened ? [id] : []))
    // A second call changes nothing.
    #expect(try await fixture.store.makeNetworkRetriesDue(at: Fixture.at(11)) == 0)
  }

  @Test("jobs in other states are unchanged", arguments: JobState.allCases)
  func others(_ state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state)
    let before = try await fixture.record(id)
    try await fixture.store.makeNetworkRetriesDue(at: Fixture.at(1_000_000))
    #expect(try await fixture.record(id) == before)
  }
}
