import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct UpdateTests {
  @Test("given fields change, others stay; a change has one event, an unchanged job none")
  func fields() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.options.limitRate = 5
    let id = try await fixture.add(spec)
    var record = try await fixture.store.update(id, priority: 7, at: Fixture.at(1))
    #expect(record.job.priority == 7 && record.spec.options.limitRate == 5)
    record = try await fixture.store.update(id, limitRate: .some(nil), at: Fixture.at(2))
    #expect(record.job.priority == 7 && record.spec.options.limitRate == nil)
    record = try await fixture.store.update(id, priority: 7, at: Fixture.at(3))
    #expect(record == (try await fixture.record(id)))
    #expect(fixture.events.map(\.kind) == [.added, .changed, .changed])
    await #expect(throws: StoreError.notFound(99)) {
      try await fixture.store.update(99, priority: 1, at: Fixture.epoch)
    }
  }

  @Test("the URL can change unless the job is running or completed", arguments: JobState.allCases)
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

  @Test("an upload gets another target: its URL and its collection change together")
  func target() async throws {
    let fixture = try Fixture()
    var spec = JobSpec(owner: Fixture.owner, uploading: "/a", to: "https://h/a", origin: "https://h:443")
    spec.paused = true
    let old = UploadTarget(collection: "https://h/in/?token=1", name: "a")
    spec.target = old
    let id = try await fixture.add(spec)
    #expect(try await fixture.record(id).spec.target == old)
    for target in [old.moved(to: "https://h/new/?token=2"), UploadTarget(url: "https://h/new/b")] {
      let change = AddressChange(target: target, origin: spec.origin)
      #expect(try await fixture.store.update(id, address: change, at: Fixture.at(1)).spec.target == target)
      let after = try await fixture.record(id).spec
      #expect(after.target == target && after.destination == target.url)
      #expect(after.options.upload.collection == target.collection)
    }
  }

  @Test("headers that look like secrets are dropped for another server and kept for the same one")
  func secrets() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.paused = true
    spec.options.headers = [
      "Authorization": "Bearer t", "cookie": "c", "X-Api-Key": "k", "Accept": "a/b", "X-Trace": "1",
    ]
    let id = try await fixture.add(spec)
    let near = AddressChange(url: "https://example.org/other", origin: spec.origin)
    #expect(
      try await fixture.store.update(id, address: near, at: Fixture.at(1)).spec.options.headers == spec.options.headers)
    #expect(fixture.events.last?.reason == nil)
    for (number, origin) in ["http://example.org:80", "https://example.org:444", "https://other.org:443"].enumerated() {
      let id = try await fixture.add(
        {
          var other = spec
          other.destination = "/downloads/secret-\(number)"
          return other
        }())
      let far = AddressChange(url: origin + "/1", origin: origin)
      let after = try await fixture.store.update(id, address: far, at: Fixture.at(2))
      #expect(after.spec.options.headers == ["Accept": "a/b", "X-Trace": "1"])
      #expect(try await fixture.record(id).spec.options.headers == after.spec.options.headers)
      let reason = try #require(fixture.events.last?.reason)
      #expect(reason == "dropped the headers Authorization, X-Api-Key, cookie, which were given for \(spec.origin)")
    }
  }

  @Test("a URL of a protocol without header fields drops all of them")
  func withoutFields() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.paused = true
    spec.options.headers = ["Authorization": "Bearer t", "X-Trace": "1"]
    let id = try await fixture.add(spec)
    let far = AddressChange(url: "sftp://other.org/1", origin: "sftp://other.org:22")
    #expect(try await fixture.store.update(id, address: far, at: Fixture.at(1)).spec.options.headers.isEmpty)
    #expect(
      fixture.events.last?.reason == "dropped the headers Authorization, X-Trace, which were given for \(spec.origin)")
  }
}
