import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ResumableUploadTests {
  static let size: Int64 = 6 << 20

  private func upload(_ fixture: UploadFixture, _ server: ScriptedResumable, version: Int = 8) throws -> FileUpload {
    var upload = try fixture.upload(to: server.url, by: .resumable)
    upload.interopVersion = version
    return upload
  }

  @Test(
    "an upload needs one request and is recorded when the server sends the upload's URL", arguments: [3, 4, 5, 6, 7, 8])
  func whole(version: Int) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable(version: version)
    let journal = UploadRecorder()
    let response = await fixture.send(try upload(fixture, server, version: version), journal: journal)
    #expect(word(response.error) == "success")
    #expect(response.head?.status == 201)
    #expect(server.requests.count == 1)
    #expect(server.requests[0].method == "PUT")
    #expect(server.requests[0].headers["Upload-Length"] == String(Self.size))
    #expect(server.bytes(of: "u0") == fixture.payload.data)
    #expect(journal.records.value.count == 1)
    #expect(response.ledger == nil)
  }

  @Test("at most 1 MiB is sent before the journal record is durable")
  func recordFirst() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable()
    let shown = Watched<Int64>(0)
    let journal = SlowRecorder()
    let start = ContinuousClock.now
    let request = fixture.session.upload(try upload(fixture, server), journal: journal)
      .uploadProgress { progress in shown.mutate { $0 = max($0, progress.sent) } }.resume()
    try await journal.asked.wait()
    let waited = start.duration(to: .now)
    try await shown.wait(for: "the body to come to its gate") { $0 >= 1 << 20 ? () : nil }
    // libcurl sends the body if the server does not respond within a second, before there is an upload URL to record.
    #expect(shown.value <= 1 << 20 + 256 << 10 || waited >= .seconds(1))
    journal.proceed.open()
    #expect(word(await request.response().error) == "success")
    #expect(server.bytes(of: "u0") == fixture.payload.data)
    let failing = await fixture.send(
      try upload(fixture, server), journal: UploadRecorder(failing: .file(.diskFull("full"))))
    #expect(word(failing.error) == "hook")
  }

  @Test(
    "after a broken connection the upload continues at the server's offset, and no byte is sent twice",
    arguments: [(0, 8), (1, 8), (2_500_000, 8), (2_500_000, 3), (2_500_000, 5), (2_500_000, 6), (6 << 20, 8)]
      as [(Int64, Int)])
  func drop(after bytes: Int64, version: Int) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable(version: version) { request, number in
      request.method == "PUT" || request.method == "PATCH" && number == 0
        ? .take(request.method == "PUT" ? bytes : 1000, then: [.reset]) : nil
    }
    let journal = UploadRecorder()
    let first = await fixture.send(try upload(fixture, server, version: version), journal: journal)
    #expect(word(first.error) == "broken")
    #expect(first.bytesAcknowledged == bytes || first.bytesAcknowledged == 0)
    let last = await Session().upload(
      try upload(fixture, server), resumingWith: journal.last?.encoded(), journal: journal, interceptor: .atOnce(4)
    ).response()
    #expect(word(last.error) == "success")
    #expect(server.bytes(of: "u0") == fixture.payload.data)
    #expect(server.bytesArrived == Self.size)
    #expect(server.isComplete("u0"))
    #expect(server.requests("PUT").count == 1)
    #expect(last.resumedFrom == (bytes == Self.size ? bytes : bytes + 1000))
  }

  @Test("a server without resumable uploads gets a plain request", arguments: [true, false])
  func plain(isPUT: Bool) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try LoopbackServer { _ in .response(201) }
    let journal = UploadRecorder()
    let response = await fixture.send(
      try fixture.upload(to: server.url("/a"), by: .resumable, method: isPUT ? .put : .post), journal: journal)
    #expect(word(response.error) == "success")
    #expect(server.requests[0].bodySHA256 == fixture.payload.sha256)
    #expect(journal.records.value.count == (isPUT ? 0 : 1))
    let lost = try LoopbackServer { _ in [.reset] }
    let failed = await fixture.send(
      try fixture.upload(to: lost.url("/a"), by: .resumable, method: isPUT ? .put : .post))
    #expect(word(failed.error) == (isPUT ? "broken" : "unknown"))
    #expect(lost.requests.count == 1)
  }

  @Test("a refused version is followed by the server's one, on a connection that the refusal cannot have disturbed")
  func olderServer() async throws {
    let fixture = try UploadFixture(size: 1)
    let server = try ScriptedResumable(version: 6) { request, number in
      guard request.method == "PUT", number == 0 else { return nil }
      return .instead([
        .readBody(), .status(400, headers: ["Upload-Draft-Interop-Version": "6", "Content-Length": "0"]), .keepAlive,
      ])
    }
    let response = await fixture.send(try upload(fixture, server))
    #expect(word(response.error) == "success")
    #expect(server.requests.map { $0.headers["Upload-Draft-Interop-Version"] } == ["8", "6"])
    #expect(server.requests.map(\.connection) == [0, 1])
    #expect(server.bytes(of: "u0") == fixture.payload.data)
  }

  @Test("a 104 of an unknown version is ignored")
  func foreignInterim() async throws {
    let fixture = try UploadFixture(size: 1000)
    for version in ["", "Upload-Draft-Interop-Version: 2\r\n", "Upload-Draft-Interop-Version: 9\r\n"] {
      let server = try LoopbackServer(bodies: .byScript) { _ in
        [
          .raw(Data("HTTP/1.1 104 Upload\r\n\(version)Location: /x\r\n\r\n".utf8)), .readBody(),
          .status(503, headers: ["Content-Length": "0"]), .keepAlive,
        ]
      }
      let response = await fixture.send(try fixture.upload(to: server.url("/a"), by: .resumable))
      #expect(word(response.error) == "status 503")
      #expect(response.ledger == nil)
    }
  }

  @Test("the target's own response ends the upload, whatever it is")
  func target() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable { request, _ in request.method == "PUT" ? .target(422) : nil }
    let response = await fixture.send(try upload(fixture, server))
    #expect(word(response.error) == "status 422")
    #expect(response.ledger == nil)
    #expect(server.requests.count == 1)
  }

  @Test("an end that the server reports before it can have all bytes is no success", arguments: [true, false])
  func earlyEnd(isPUT: Bool) async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      let fields: HeaderList = [
        "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1", "Content-Length": "0",
      ]
      return [.readBody(upTo: 1 << 16), .status(201, headers: fields), .close]
    }
    let response = await fixture.send(
      try fixture.upload(to: server.url("/a"), by: .resumable, method: isPUT ? .put : .post))
    #expect(word(response.error) == (isPUT ? "early" : "unknown"))
    #expect(server.requests.count == 1)
  }

  @Test("an offset below the file's end in the last response is no success: the rest is sent")
  func lowOffset() async throws {
    let fixture = try UploadFixture(size: 1000)
    let version = "Upload-Draft-Interop-Version: 8"
    let server = try LoopbackServer(bodies: .byScript) { request in
      if request.method == "PUT" {
        return [
          .raw(Data("HTTP/1.1 104 Upload\r\n\(version)\r\nLocation: /u\r\n\r\n".utf8)), .readBody(),
          .status(201, headers: ["Upload-Offset": "5", "Content-Length": "0"]), .keepAlive,
        ]
      }
      return [.readBody(), .status(201, headers: ["Upload-Complete": "?1", "Content-Length": "0"]), .keepAlive]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a"), by: .resumable))
    #expect(word(response.error) == "success")
    #expect(server.requests.map(\.method) == ["PUT", "PATCH"])
    #expect(server.requests.last?.headers["Upload-Offset"] == "5")
    #expect(server.requests.last?.bodyLength == 995)
  }

  @Test("an upload is resumed after a failure of the server")
  func serverFailure() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable { request, number in
      request.method == "PUT" && number == 0
        ? .take(1 << 20, then: [.status(503, headers: ["Content-Length": "0", "Connection": "close"]), .close]) : nil
    }
    let response = await fixture.send(try upload(fixture, server), interceptor: .atOnce(2))
    #expect(word(response.error) == "success")
    #expect(response.resumedFrom == 1 << 20)
    #expect(server.bytes(of: "u0") == fixture.payload.data)
  }

  @Test("the server's offset is used if it differs from the client's")
  func conflict() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable { request, number in
      switch (request.method, number) {
      case ("PUT", 0): .take(3_000_000, then: [.reset])
      case ("HEAD", 0):
        .instead([
          .status(
            204, headers: ["Upload-Draft-Interop-Version": "8", "Upload-Offset": "1000", "Upload-Complete": "?0"]),
          .keepAlive,
        ])
      default: nil
      }
    }
    let response = await fixture.send(try upload(fixture, server), interceptor: .atOnce(2))
    #expect(word(response.error) == "success")
    #expect(server.bytes(of: "u0") == fixture.payload.data)
    #expect(server.requests("PATCH").count == 2)
  }

  @Test("appends respect the server's limits, announced or learned from a 413", arguments: [true, false])
  func limits(isTold: Bool) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable(limit: isTold ? "max-append-size=2097152, max-age=100" : nil) {
      request, number in
      let length = Int64(request.headers["Content-Length"] ?? "0") ?? 0
      if request.method == "PUT", number == 0 {
        return isTold
          ? .take(1 << 20, then: [.reset])
          : .instead(.response(413, headers: ["Upload-Limit": "max-append-size=2097152", "Connection": "close"]))
      }
      return request.method == "PATCH" && length > 2 << 20
        ? .instead(.response(413, headers: ["Upload-Limit": "max-append-size=2097152", "Connection": "close"])) : nil
    }
    let response = await fixture.send(try upload(fixture, server), interceptor: .atOnce(2))
    #expect(word(response.error) == "success")
    #expect(server.bytes(of: "u0") == fixture.payload.data)
    #expect(server.isComplete("u0"))
    #expect(server.bytesArrived == Self.size)
  }

  @Test("an upload that the server no longer knows is started again", arguments: [403, 404, 410])
  func gone(_ status: Int) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable { request, number in
      switch (request.method, number) {
      case ("PUT", 0): .take(1 << 20, then: [.reset])
      case ("HEAD", 0): .instead(.response(status))
      default: nil
      }
    }
    let response = await fixture.send(try upload(fixture, server), interceptor: .atOnce(2))
    #expect(word(response.error) == "success")
    #expect(server.bytes(of: "u1") == fixture.payload.data)
  }

  @Test("an abandoned upload is deleted on the server")
  func abandon() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let server = try ScriptedResumable { request, number in
      request.method == "PUT" ? .take(1 << 20, then: [.reset]) : nil
    }
    let upload = try upload(fixture, server)
    let ledger = try #require(await fixture.send(upload).ledger)
    #expect(server.uploads == ["u0"])
    for _ in 0..<2 { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
    #expect(server.uploads == [])
  }
}

/// A journal that waits until the test lets it continue.
private final class SlowRecorder: UploadJournal {
  let asked = Gate()
  let proceed = Gate()

  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws {
    asked.open()
    try await proceed.wait()
  }
}
