import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct RelayTests {
  private static func relay(_ n: Int = 1, to url: String = "https://t/x") -> JobSpec {
    var spec = JobSpec(
      owner: Fixture.owner, relaying: "https://h/\(n)", origin: "https://h:443", to: url,
      .init(otherOrigin: "https://t:443"))
    spec.spool = "token\(n)/x"
    return spec
  }

  /// Ends the download of a relay.
  private func download(_ id: JobID, _ fixture: Fixture) async throws {
    try await fixture.settle(try await fixture.claim(id), .requeue) { settlement in
      (settlement.beginsUpload, settlement.bytesDone, settlement.bytesTotal) = (true, 0, 70)
      settlement.resumeData = .clear
    }
  }

  @Test("a relay is stored with its phase and both servers, and shown with source and target")
  func stored() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.relay())
    let record = try await fixture.record(id)
    #expect(record.spec == Self.relay().with(maxAttemptsOf: record))
    #expect(record.job.kind == .relay && record.job.phase == .download)
    #expect(record.job.source == "https://h/1" && record.job.destination == "https://t/x")
    #expect(record.spec.transferKind == .download && record.waitFacts?.origin == "https://h:443")
    let listed = try await fixture.store.jobList(order: .id, limit: 5, in: .everything).jobs
    #expect(listed.first?.job == record.job)
  }

  @Test("the upload begins in one transaction: phase, server and attempts change together, and errors are forgotten")
  func phases() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.relay())
    try await fixture.settle(try await fixture.claim(id), .postpone) { $0.failure = Fixture.failure }
    try await download(id, fixture)
    let record = try await fixture.record(id)
    #expect(record.job.state == .queued && record.job.phase == .upload && record.job.attempt == 0)
    #expect(record.job.bytesDone == 0 && record.job.bytesTotal == 70 && record.job.error == nil)
    #expect(record.spec.origin == "https://t:443" && record.spec.relay?.otherOrigin == "https://h:443")
    #expect(record.spec.transferKind == .upload && record.resumeData == nil)
    let page = try await fixture.store.candidates(now: Fixture.at(100), excludingOrigins: ["https://h:443"], limit: 5)
    #expect(page.map(\.id) == [id])
    #expect(try await fixture.store.relayCopies() == [RelayCopy(job: id, bytes: 70, total: 70)])
    // A second report of the same end changes nothing.
    #expect(try await fixture.settle(record, .requeue) { $0.beginsUpload = true } == false)
  }

  @Test("of relays that wait for room a few become due, those with the highest priority first")
  func due() async throws {
    let fixture = try Fixture()
    var ids: [JobID] = []
    for (n, priority) in [0, 5, 0].enumerated() {
      var spec = Self.relay(n)
      spec.priority = priority
      let id = try await fixture.add(spec)
      try await fixture.settle(try await fixture.claim(id), .postpone) { settlement in
        settlement.retryAt = Fixture.at(3600)
        settlement.retryDelay = .seconds(3598)
        settlement.failure = JobFailure(code: .diskFull, message: "no room", transient: true)
      }
      ids.append(id)
    }
    #expect(try await fixture.store.makeRelayRetriesDue(limit: 2, at: Fixture.at(10)) == 2)
    let due = try await fixture.store.candidates(now: Fixture.at(10), excludingOrigins: [], limit: 10)
    #expect(due.map(\.id) == [ids[1], ids[0]])
    #expect(try await fixture.store.makeRelayRetriesDue(limit: 2, at: Fixture.at(10)) == 1)
    #expect(try await fixture.store.makeRelayRetriesDue(limit: 2, at: Fixture.at(10)) == 0)
  }

  @Test("a cancelled relay begins with its download again")
  func cancelled() async throws {
    let fixture = try Fixture()
    for isRunning in [false, true] {
      let id = try await fixture.add(Self.relay(isRunning ? 1 : 2))
      try await download(id, fixture)
      if isRunning {
        try await fixture.settle(try await fixture.claim(id), .cancel) { ($0.bytesDone, $0.resumeData) = (0, .clear) }
      } else {
        _ = try await fixture.store.transition([id], .cancel, at: Fixture.at(5))[0].get()
      }
      _ = try await fixture.store.transition([id], .retry, at: Fixture.at(6))[0].get()
      let record = try await fixture.record(id)
      #expect(record.job.phase == .download && record.spec.origin == "https://h:443" && record.job.state == .queued)
      #expect(try await fixture.store.relayCopies().isEmpty)
    }
  }

  @Test(
    "a retry of a failed upload uploads again, unless the copy is gone",
    arguments: [
      (JobFailure.Code.http(403), RelayPhase.upload), (.sourceMissing, .download), (.sourceChanged, .download),
    ])
  func retried(_ code: JobFailure.Code, _ phase: RelayPhase) async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.relay())
    try await download(id, fixture)
    try await fixture.settle(try await fixture.claim(id), .fail) { settlement in
      settlement.failure = JobFailure(code: code, message: "m", transient: false)
      (settlement.bytesDone, settlement.resumeData) = (30, .set(Data([1])))
    }
    _ = try await fixture.store.transition([id], .retry, at: Fixture.at(6))[0].get()
    let record = try await fixture.record(id)
    #expect(record.job.phase == phase && record.job.bytesDone == (phase == .upload ? 30 : 0))
    #expect((record.resumeData == nil) == (phase == .download))
  }

  @Test("relays to one URL are in the line of its uploads from the beginning of their uploads")
  func line() async throws {
    let fixture = try Fixture()
    let first = try await fixture.add(Self.relay(1))
    let second = try await fixture.add(Self.relay(2))
    let upload = try await fixture.add(UploadLineTests.upload("/f", to: "https://t/x"))
    // Downloads do not wait for each other: neither may wait for room that the other one has.
    #expect(try await fixture.record(second).blockedBy == nil)
    #expect(try await fixture.record(upload).blockedBy == nil)
    try await download(second, fixture)
    try await download(first, fixture)
    #expect(try await fixture.record(second).blockedBy == upload)
    #expect(try await fixture.record(first).blockedBy == second)
    _ = try await fixture.store.transition([upload], .cancel, at: Fixture.at(5))[0].get()
    #expect(try await fixture.record(second).blockedBy == nil)
    try await fixture.settle(try await fixture.claim(second), .complete)
    #expect(try await fixture.record(first).blockedBy == nil)
    #expect(try await fixture.record(second).job.phase == .upload)
  }

  @Test("secrets of both sides are stored apart, and a cleanup of the target has the target's alone")
  func secrets() async throws {
    let fixture = try Fixture()
    var spec = Self.relay(1, to: "https://t/x?sig=targetsecret")
    spec.source = "https://h/1?token=sourcesecret"
    spec.credentials = .init(username: "u", password: "sourcepassword")
    spec.relay?.credentials = .init(username: "w", password: "targetpassword")
    spec.options.headers = ["Authorization": "Bearer headersecret"]
    let id = try await fixture.add(spec)
    let stored = try await fixture.record(id)
    #expect(stored.spec == spec.with(maxAttemptsOf: stored))
    let shown = "\(stored.job)"
    #expect(!shown.contains("secret") && !shown.contains("password"))
    try await download(id, fixture)
    try await fixture.settle(try await fixture.claim(id), .pause) { $0.resumeData = .set(Data([1])) }
    _ = try await fixture.store.transition([id], .cancel, at: Fixture.at(5))[0].get()
    let cleanup = try #require(try await fixture.store.dueRemoteCleanups(now: Fixture.at(9), limit: 5).first)
    #expect(cleanup.spec.kind == .upload && cleanup.spec.destination == "https://t/x?sig=targetsecret")
    #expect(cleanup.spec.credentials?.password == "targetpassword" && cleanup.spec.origin == "https://t:443")
    #expect(cleanup.spec.options.headers.isEmpty)
    let open = try await fixture.store.read { db in
      try Row.fetchAll(
        db,
        sql:
          "SELECT source, destination, options FROM job UNION ALL SELECT source, destination, options FROM remote_cleanup"
      )
      .map { "\($0)" }.joined()
    }
    #expect(!open.contains("secret") && !open.contains("password"))
  }

  @Test("the URL of the source can change while it is downloaded, not afterwards")
  func address() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.relay())
    let change = AddressChange(url: "https://other/1", origin: "https://other:443")
    let record = try await fixture.store.update(id, address: change, in: .everything, at: Fixture.at(1))
    #expect(record.spec.source == "https://other/1" && record.spec.destination == "https://t/x")
    #expect(record.spec.origin == "https://other:443" && record.spec.relay?.otherOrigin == "https://t:443")
    try await download(id, fixture)
    await #expect(throws: StoreError.urlChangeNotAllowed(id, .queued)) {
      try await fixture.store.update(
        id, address: AddressChange(url: "https://h/2", origin: "https://h:443"), in: .everything, at: Fixture.at(2))
    }
  }
}

extension JobSpec {
  /// The spec as it is read back.
  fileprivate func with(maxAttemptsOf record: JobRecord) -> JobSpec {
    var spec = self
    spec.options.maxAttempts = record.spec.options.maxAttempts
    return spec
  }
}
