import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct UpdateTests {
  @Test("what is given changes, the rest stays; one event, none where nothing is different")
  func fields() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.limitRate = 5
    let id = try await fixture.add(spec)
    var record = try await fixture.store.update(id, priority: 7, at: Fixture.at(1))
    #expect(record.job.priority == 7 && record.spec.limitRate == 5)
    record = try await fixture.store.update(id, limitRate: .some(nil), at: Fixture.at(2))
    #expect(record.job.priority == 7 && record.spec.limitRate == nil)
    record = try await fixture.store.update(id, priority: 7, at: Fixture.at(3))
    #expect(record == (try await fixture.record(id)))
    #expect(fixture.events.map(\.kind) == [.added, .changed, .changed])
    await #expect(throws: StoreError.notFound(99)) {
      try await fixture.store.update(99, priority: 1, at: Fixture.epoch)
    }
  }

  @Test("the URL may change unless the job runs or is completed", arguments: JobState.allCases)
  func url(state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state)
    let before = try await fixture.record(id)
    let address = AddressChange(
      url: "http://mirror/1", origin: "http://mirror:80",
      credentials: JobSpec.Credentials(username: "u", password: "p"))
    if state == .running || state == .completed {
      await #expect(throws: StoreError.urlChangeNotAllowed(id, state)) {
        try await fixture.store.update(id, priority: 4, address: address, at: Fixture.at(9))
      }
      #expect(try await fixture.record(id) == before)
    } else {
      let after = try await fixture.store.update(id, address: address, at: Fixture.at(9))
      #expect(after.spec.url == address.url && after.spec.origin == address.origin)
      #expect(after.spec.credentials == address.credentials && after.resumeData == before.resumeData)
      #expect(after.job.state == state && after.spec.destination == before.spec.destination)
    }
  }
}
