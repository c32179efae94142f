import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct SubmitTests {
  @Test("every field is read back from the row")
  func roundTrip() async throws {
    let fixture = try Fixture()
    var spec = JobSpec(
      owner: 7, url: "https://example.org/a?token=geheim", origin: "https://example.org:443", destination: "/d/",
      credentials: JobSpec.Credentials(username: "u", password: ""))
    spec.options.download.replace = true
    spec.options.download.createDirectories = true
    spec.options.download.nameFromResponse = true
    spec.options.download.checksum = "md5=00000000000000000000000000000000"
    spec.options.headers = ["X-A": "\"1\"", "Authorization": "ß"]
    spec.batch = "b"
    spec.key = "k"
    spec.priority = -7
    spec.paused = true
    spec.options.limitRate = 1000
    spec.options.maxAttempts = 3
    spec.options.connectTimeout = 1.5
    spec.options.stallTimeout = 30
    let id = try await fixture.add(spec)
    let record = try await fixture.record(id)
    #expect(record.spec == spec)
    #expect(record.partToken.count == 8)
    #expect(record.attemptNumber == 0)
    #expect(
      record.job
        == Job(
          id: id, kind: .download, state: .paused, source: "https://example.org/a?token=***",
          destination: "/d/", maxAttempts: 3, priority: -7, batch: "b", key: "k",
          checksum: spec.options.download.checksum,
          createdAt: Fixture.epoch))
  }

  @Test("an upload's source is its file, its destination the URL")
  func upload() async throws {
    let fixture = try Fixture()
    let spec = JobSpec(owner: 0, uploading: "/a", to: "https://h/b?sig=1", origin: "https://h:443")
    // Two files may be uploaded to one URL.
    let ids = try await fixture.store.submit([spec, spec], at: Fixture.epoch).map { try $0.get().id }
    let record = try await fixture.record(ids[1])
    #expect(record.spec.url == "https://h/b?sig=1")
    #expect(record.job.source == "/a")
    #expect(record.job.destination == "https://h/b?sig=***")
  }

  @Test("results and ids have the order of the specs, refused ones included")
  func order() async throws {
    let fixture = try Fixture()
    var invalid = Fixture.spec(9)
    // A CHECK of the schema refuses the row.
    invalid.destination = ""
    let answers = await fixture.store.submit(
      [Fixture.spec(1), Fixture.spec(1), invalid, Fixture.spec(2)], at: Fixture.epoch)
    #expect(answers[0] == .success(Submission(id: 1, existing: false, state: .queued)))
    #expect(answers[1] == .failure(.destinationTaken(path: "/downloads/1", by: 1)))
    #expect(throws: StoreError.self) { try answers[2].get() }
    #expect(try answers[3].get().id > 1)
    #expect(try await fixture.store.counts().queued == 2)
    #expect(fixture.events.map(\.kind) == [.added, .added])
  }

  @Test("the same key gives one job, even with 64 simultaneous calls")
  func key() async throws {
    let fixture = try Fixture()
    let answers = try await withThrowingTaskGroup(of: Submission.self) { group in
      for n in 0..<64 {
        group.addTask {
          var spec = Fixture.spec(n)
          spec.key = "same"
          return try await fixture.store.submit([spec], at: Fixture.epoch)[0].get()
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(answers.map(\.id)).count == 1)
    #expect(answers.filter { !$0.existing }.count == 1)
    #expect(try await fixture.store.counts().total == 1)
    #expect(
      try await fixture.store.jobs(keys: ["same", "other"], owner: Fixture.owner).mapValues(\.job.id) == [
        "same": answers[0].id
      ])
  }

  @Test("a destination is free again when its job has ended", arguments: JobState.allCases)
  func destination(state: JobState) async throws {
    let fixture = try Fixture()
    let id = try await fixture.job(1, in: state)
    let answer = await fixture.store.submit([Fixture.spec(1)], at: Fixture.epoch)[0]
    if state.isFinal {
      #expect(throws: Never.self) { try answer.get() }
    } else {
      #expect(answer == .failure(.destinationTaken(path: "/downloads/1", by: id)))
    }
  }

  @Test("jobs that wait for their name share a directory")
  func directories() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.destination = "/downloads/"
    try await fixture.add(spec)
    try await fixture.add(spec)
    #expect(try await fixture.store.counts().queued == 2)
  }

  @Test("the id of a removed job is not reused, but its key is")
  func removedID() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.key = "k"
    let first = try await fixture.add(spec)
    try await fixture.store.remove([first], at: Fixture.epoch)[0].get()
    let second = try await fixture.add(spec)
    #expect(second > first)
  }
}

extension JobID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) { self.init(value) }
}
