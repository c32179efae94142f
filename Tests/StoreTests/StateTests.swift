import Foundation
import Testing
import TransferAPI

@testable import Store

/// Every event in every state, by requests and by attempts.
@Suite struct StateTests {
  static let pairs = JobState.allCases.flatMap { state in JobEvent.allCases.map { (state, $0) } }

  @Test("a request changes an idle job as the state machine says, and the counters follow", arguments: pairs)
  func transition(state: JobState, event: JobEvent) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state, batch: "b")
    let events = fixture.events.count
    let answer = await fixture.store.transition([id], event, at: Fixture.at(5), reason: "why")[0]
    let after = try await fixture.record(id).job.state
    if state == .running {
      #expect(answer == .failure(.busy(id)))
      #expect(after == .running)
    } else if [.claim, .requeue, .postpone, .fail, .complete, .expire].contains(event) {
      #expect(throws: StoreError.invalid(InvalidTransition(state: state, event: event))) { try answer.get() }
      #expect(after == state)
    } else if let expected = try? state.applying(event) {
      #expect(answer == .success(state))
      #expect(after == expected)
    } else {
      #expect(answer == .failure(.invalid(InvalidTransition(state: state, event: event))))
      #expect(after == state)
    }
    #expect(fixture.events.count == events + (after == state ? 0 : 1))
    if after != state {
      let event = try #require(fixture.events.last)
      #expect(event.from == state && event.to == after && event.reason == "why" && event.kind == .state)
    }
    try await expectCountersAreTrue(fixture)
  }

  @Test("an attempt ends as the state machine says, and counters follow", arguments: pairs)
  func settle(state: JobState, event: JobEvent) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state, batch: "b")
    let before = try await fixture.record(id)
    let settle = { try await fixture.settle(before, event) }
    if state != .running {
      #expect(try await settle() == false)
      #expect(try await fixture.record(id) == before)
    } else if let expected = try? state.applying(event) {
      #expect(try await settle() == true)
      #expect(try await fixture.record(id).job.state == expected)
    } else {
      await #expect(throws: StoreError.invalid(InvalidTransition(state: state, event: event))) {
        _ = try await settle()
      }
      #expect(try await fixture.record(id) == before)
    }
    try await expectCountersAreTrue(fixture)
  }

  @Test("a job can be removed in every state except running", arguments: JobState.allCases)
  func remove(state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state, batch: "b")
    let answer = await fixture.store.remove([id], at: Fixture.at(9))[0]
    if state == .running {
      #expect(answer.failure == .busy(id))
    } else {
      #expect(answer.failure == nil)
      #expect(try await fixture.store.job(id) == nil)
      #expect(try await fixture.store.detail(id) == nil)
      let last = try #require(try await fixture.store.events(since: 0, jobs: [id], limit: 100).last)
      #expect(last.kind == .removed && last.from == state && last.to == nil)
      let detail = try #require(try await fixture.store.batch("b"))
      #expect(detail.bytesDone == 0 && detail.bytesTotal == 0)
      #expect(await fixture.store.remove([id], at: Fixture.at(9))[0].failure == .notFound(id))
    }
    try await expectCountersAreTrue(fixture)
  }

  func expectCountersAreTrue(_ fixture: Fixture) async throws {
    let counted = try await fixture.countedByHand()
    #expect(try await fixture.store.counts() == counted[""])
    #expect(try await fixture.store.batch("b")?.batch.counts == counted["b"] ?? StateCounts())
    #expect(try await fixture.store.batches().map(\.counts) == [counted["b"] ?? StateCounts()])
  }
}
