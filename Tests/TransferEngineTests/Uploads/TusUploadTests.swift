import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct TusUploadTests {
  static let size: Int64 = 6 << 20
  static func fixture() throws -> UploadFixture { try UploadFixture(size: size) }

  /// Completes the upload from a ledger, with retries.
  private func finish(_ fixture: UploadFixture, _ tus: ScriptedTus, from ledger: UploadLedger?) async throws
    -> FileUploadResponse
  {
    await fixture.send(
      try fixture.upload(to: tus.url, by: .tus(TusOptions())), resumingWith: ledger, interceptor: .atOnce(3))
  }

  @Test("an upload is created, recorded, and sent by one PATCH")
  func plain() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus()
    let journal = UploadRecorder()
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())), journal: journal)
    #expect(word(response.error) == "success")
    #expect(response.ledger == nil)
    #expect(response.bytesAcknowledged == Self.size)
    #expect(response.bytesSent == Self.size)
    #expect(tus.requests.map(\.method) == ["OPTIONS", "POST", "PATCH"])
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    #expect(journal.steps.count == 1)
    let post = tus.requests[1]
    #expect(post.headers["Upload-Length"] == String(Self.size))
    #expect(
      post.headers["Upload-Metadata"]
        == "filename c291cmNlLmJpbg==,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt")
    // The second upload sends no OPTIONS request.
    let other = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(other.isSuccess)
    #expect(tus.requests("OPTIONS").count == 1)
  }

  @Test("nothing is sent before the record is durable")
  func recordFirst() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus()
    let response = await fixture.send(
      try fixture.upload(to: tus.url, by: .tus(TusOptions())),
      journal: UploadRecorder(failing: .file(.diskFull("full"))))
    #expect(word(response.error) == "hook")
    #expect(tus.requests("PATCH").isEmpty)
  }

  /// With its bytes in the request that creates the upload, a lost response made a second file of it.
  @Test(
    "a small file, too, is sent when its upload is on record; an empty one ends with its creation",
    arguments: [0, 1, 100_000, 1 << 20] as [Int64])
  func small(_ size: Int64) async throws {
    let fixture = try UploadFixture(size: size)
    let tus = try ScriptedTus(extensions: "creation,creation-with-upload") { request, number in
      request.method == "POST" && number == 0 ? .instead([.readBody(), .reset]) : nil
    }
    let journal = UploadRecorder()
    let upload = try fixture.upload(to: tus.url, by: .tus(TusOptions()))
    let response = await fixture.send(upload, journal: journal, interceptor: .atOnce(3))
    #expect(word(response.error) == "success")
    #expect(tus.requests.map(\.method) == ["OPTIONS", "POST", "POST"] + (size == 0 ? [] : ["PATCH"]))
    #expect(tus.requests("POST").allSatisfy { $0.bodyLength == 0 })
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    #expect(journal.steps.count == (size == 0 ? 0 : 1))
  }

  @Test(
    "after a broken connection the upload continues at the server's offset, and no byte is sent twice",
    arguments: [0, 1, 2_500_000, 6 << 20] as [Int64])
  func drop(after bytes: Int64) async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      request.method == "PATCH" && number == 0 ? .take(bytes, then: [.reset]) : nil
    }
    let journal = UploadRecorder()
    let first = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())), journal: journal)
    #expect(word(first.error) == "broken")
    #expect(first.error?.isTransient == true)
    // The response's ledger is equal to the recorded one, which would be left after a kill.
    #expect(first.ledger?.progress == journal.last?.progress)
    let second = try await finish(fixture, tus, from: journal.last)
    #expect(word(second.error) == "success")
    #expect(second.resumedFrom == bytes)
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    #expect(tus.bytesArrived == Self.size)
    #expect(tus.uploads == ["u0"])
    #expect(tus.requests("HEAD").count == 1)
  }

  @Test("after a kill between the last byte and the end, one HEAD request is enough")
  func already() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus()
    let journal = UploadRecorder()
    _ = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())), journal: journal)
    let again = try await finish(fixture, tus, from: journal.last)
    #expect(again.isSuccess)
    #expect(again.resumedFrom == Self.size)
    #expect(again.bytesSent == 0)
    #expect(tus.requests.suffix(2).map(\.method).contains("HEAD"))
    #expect(tus.requests("PATCH").count == 1)
  }

  @Test("an upload that the server no longer knows is started again", arguments: [403, 404, 410])
  func gone(_ status: Int) async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      switch (request.method, number) {
      case ("PATCH", 0): .take(1 << 20, then: [.reset])
      case ("HEAD", 0): .instead(.response(status))
      default: nil
      }
    }
    let first = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    let second = try await finish(fixture, tus, from: first.ledger)
    #expect(word(second.error) == "success")
    #expect(second.resumedFrom == 0)
    #expect(tus.bytes(of: "u1") == fixture.payload.data)
  }

  @Test("an upload that the server forgets during a PATCH is started again")
  func goneInTheMiddle() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      request.method == "PATCH" && number == 0 ? .instead(.response(404)) : nil
    }
    #expect(word(await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions()))).error) == "success")
    #expect(tus.bytes(of: "u1") == fixture.payload.data)
  }

  @Test("a locked upload is retried and never started again")
  func locked() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      switch (request.method, number) {
      case ("PATCH", 0): .take(1 << 20, then: [.reset])
      case ("HEAD", 0...1): .instead(.response(423))
      case ("PATCH", 1): .instead(.response(423))
      default: nil
      }
    }
    let first = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    let locked = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())), resumingWith: first.ledger)
    #expect(word(locked.error) == "status 423")
    #expect(locked.error?.isTransient == true)
    #expect(locked.ledger == first.ledger)
    let last = try await finish(fixture, tus, from: locked.ledger)
    #expect(word(last.error) == "success")
    #expect(tus.uploads == ["u0"])
    #expect(tus.bytesArrived == Self.size)
  }

  @Test(
    "the server's offset is used if it is below or above the client's", arguments: [0, 1_000_000, 3_000_000] as [Int64])
  func otherOffset(_ offset: Int64) async throws {
    // The server reports a wrong offset first. After 409 a HEAD request gives the right one.
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      switch (request.method, number) {
      case ("PATCH", 0): .take(2_000_000, then: [.reset])
      case ("HEAD", 0): .fields(["Upload-Offset": String(offset)])
      default: nil
      }
    }
    let first = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    let second = try await finish(fixture, tus, from: first.ledger)
    #expect(word(second.error) == "success")
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    #expect(second.bytesAcknowledged == Self.size)
  }

  @Test("a server whose offset never moves causes a transient error")
  func stuck() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, _ in request.method == "PATCH" ? .instead(.response(409)) : nil }
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(word(response.error) == "stuck")
    #expect(response.error?.isTransient == true)
    #expect(tus.requests("PATCH").count == 3)
  }

  @Test("a server whose offset goes back and forth does not get the same bytes for ever", arguments: [true, false])
  func pendulum(takesBytes: Bool) async throws {
    let fixture = try UploadFixture(size: 100_000)
    let tus = try ScriptedTus { request, number in
      switch request.method {
      // It takes all bytes but the last one, and loses them again.
      case "PATCH" where takesBytes && request.headers["Upload-Offset"] == "0":
        .instead([.readBody(), .status(204, headers: ["Upload-Offset": "99999"]), .keepAlive])
      case "PATCH": .instead([.readBody(), .status(409, headers: ["Content-Length": "0"]), .keepAlive])
      case "HEAD":
        .instead([.status(200, headers: ["Upload-Offset": takesBytes || number % 2 == 1 ? "0" : "1"]), .keepAlive])
      default: nil
      }
    }
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(word(response.error) == "stuck")
    #expect(response.error?.isTransient == true)
    #expect(tus.requests("PATCH").count <= 8)
  }

  @Test("an offset beyond the bytes that were sent is no success", arguments: ["POST", "PATCH"])
  func claims(_ method: String) async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let end = String(fixture.payload.size)
    let tus = try ScriptedTus { request, number in
      guard request.method == method, number == 0 else { return nil }
      if method == "POST" { return .fields(["Upload-Offset": end]) }
      return .instead([.readBody(upTo: 1 << 16), .status(204, headers: ["Upload-Offset": end]), .close])
    }
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(word(response.error) == (method == "POST" ? "success" : "early"))
    #expect(tus.requests("PATCH").count == 1)
  }

  @Test("chunks are sent with checksums if the server supports them, and a damaged chunk is sent again")
  func chunks() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus(extensions: "creation,checksum") { request, number in
      switch (request.method, number) {
      case ("OPTIONS", _): .fields(["Tus-Checksum-Algorithm": "md5,sha1"])
      case ("PATCH", 1):
        .instead([
          .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(), .status(460, headers: ["Content-Length": "0"]),
          .keepAlive,
        ])
      default: nil
      }
    }
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions(chunkSize: 2 << 20))))
    #expect(word(response.error) == "success")
    #expect(tus.requests("PATCH").count == 4)
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    let sum = Payload(fixture.payload.bytes(0..<2 << 20)).sha1
    #expect(tus.requests("PATCH")[0].headers["Upload-Checksum"] == "sha1 \(sum)")
  }

  @Test("a server that takes no large request gets smaller ones")
  func tooLarge() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, _ in
      guard request.method == "PATCH", Int64(request.headers["Content-Length"] ?? "0")! > 1 << 20 else { return nil }
      return .instead(.response(413, headers: ["Connection": "close"]))
    }
    let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(word(response.error) == "success")
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    #expect(tus.bytesArrived == Self.size)
    let again = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions())))
    #expect(again.isSuccess)
    #expect(tus.requests("PATCH").filter { Int64($0.headers["Content-Length"]!)! > 1 << 20 }.count == 3)
  }

  @Test("a file that is too large for the server and an unsupported tus version are errors")
  func refused() async throws {
    let fixture = try Self.fixture()
    let limited = try ScriptedTus { request, _ in request.method == "OPTIONS" ? .fields(["Tus-Max-Size": "1000"]) : nil
    }
    #expect(
      word(await fixture.send(try fixture.upload(to: limited.url, by: .tus(TusOptions()))).error) == "unsupported")
    #expect(limited.requests("POST").isEmpty)
    let other = try ScriptedTus { request, _ in
      request.method == "POST" ? .instead(.response(412, headers: ["Tus-Version": "2.0.0"])) : nil
    }
    #expect(word(await fixture.send(try fixture.upload(to: other.url, by: .tus(TusOptions()))).error) == "unsupported")
    let full = try ScriptedTus { request, _ in request.method == "POST" ? .instead(.response(413)) : nil }
    #expect(word(await fixture.send(try fixture.upload(to: full.url, by: .tus(TusOptions()))).error) == "status 413")
  }

  @Test("a Location at another origin gets the file without secrets, and a relative Location is resolved")
  func locations() async throws {
    let fixture = try Self.fixture()
    let headers: HTTPFields = [.authorization: "Bearer x", HTTPField.Name("X-Api-Key")!: "k"]
    let store = try LoopbackServer { request in
      request.method == "PATCH" ? .response(204, headers: ["Upload-Offset": String(Self.size)]) : .response(404)
    }
    let tus = try ScriptedTus { request, _ in
      request.method == "POST" ? .location(store.url("/elsewhere/1")) : nil
    }
    let response = await fixture.send(
      try fixture.upload(
        to: tus.url, by: .tus(TusOptions()), headers: headers, credentials: Credentials(username: "u", password: "p")))
    #expect(word(response.error) == "success")
    #expect(tus.requests("POST")[0].headers["Authorization"] != nil)
    #expect(store.requests[0].bodySHA256 == fixture.payload.sha256)
    for name in ["Authorization", "X-Api-Key"] { #expect(store.requests[0].headers[name] == nil) }
    for location in ["u0", "/files/u0", "//\(tus.server.authority)/files/u0"] {
      let tus = try ScriptedTus { request, _ in
        request.method == "POST"
          ? .location(location.replacingOccurrences(of: tus.server.authority, with: request.headers["Host"]!)) : nil
      }
      let response = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions()), headers: headers))
      #expect(word(response.error) == "success", "\(location)")
      #expect(tus.requests("PATCH")[0].headers["X-Api-Key"] == "k")
    }
  }

  @Test("a relative Location begins at the URL to which the creation was redirected")
  func redirectedCreation() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, _ in
      guard request.method == "POST" else { return nil }
      return request.path == "/moved" ? .instead(.redirect(to: "/files/", status: 307)) : .location("u0")
    }
    let response = await fixture.send(try fixture.upload(to: tus.server.url("/moved"), by: .tus(TusOptions())))
    #expect(word(response.error) == "success")
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
  }

  @Test("an abandoned upload is deleted on the server, and a second abandon is no error")
  func abandon() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      request.method == "PATCH" && number == 0 ? .take(1 << 20, then: [.reset]) : nil
    }
    let upload = try fixture.upload(to: tus.url, by: .tus(TusOptions()))
    let ledger = try #require(await fixture.send(upload).ledger)
    #expect(tus.uploads == ["u0"])
    try await fixture.session.abandon(upload, ledger: ledger.encoded())
    #expect(tus.uploads == [])
    try await fixture.session.abandon(upload, ledger: ledger.encoded())
    tus.server.stop()
    await #expect(throws: TransferError.self) { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
  }

  @Test("a source that changed between attempts: the old upload is deleted, the new version arrives completely")
  func changed() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      request.method == "PATCH" && number == 0 ? .take(1 << 20, then: [.reset]) : nil
    }
    let upload = try fixture.upload(to: tus.url, by: .tus(TusOptions()))
    let ledger = try #require(await fixture.send(upload).ledger)
    let new = Payload(size: Self.size, seed: 9)
    try fixture.change(to: new)
    var strict = upload
    strict.onChange = .fail
    let refused = await fixture.send(strict, resumingWith: ledger)
    #expect(word(refused.error) == "changed")
    #expect(refused.ledger == ledger)
    let response = await fixture.send(upload, resumingWith: ledger)
    #expect(word(response.error) == "success")
    #expect(tus.uploads == ["u1"])
    #expect(tus.bytes(of: "u1") == new.data)
  }

  @Test("a ledger of another target is not used, and its upload is deleted")
  func retargeted() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus { request, number in
      request.method == "PATCH" && number == 0 ? .take(1 << 20, then: [.reset]) : nil
    }
    let other = try ScriptedTus()
    let ledger = await fixture.send(try fixture.upload(to: tus.url, by: .tus(TusOptions()))).ledger
    let response = await fixture.send(try fixture.upload(to: other.url, by: .tus(TusOptions())), resumingWith: ledger)
    #expect(response.isSuccess)
    #expect(other.bytes(of: "u0") == fixture.payload.data)
    #expect(tus.uploads == [])
  }

  @Test("automatic uses tus if OPTIONS announces it, remembers that, and uses plain after any other response")
  func automatic() async throws {
    let fixture = try Self.fixture()
    let tus = try ScriptedTus()
    #expect(await fixture.send(try fixture.upload(to: tus.url, by: .automatic)).isSuccess)
    #expect(tus.bytes(of: "u0") == fixture.payload.data)
    var named = try fixture.upload(to: tus.url + "source.bin", by: .automatic)
    named.collection = try RequestURL(tus.url)
    #expect(await fixture.send(named).isSuccess)
    #expect(tus.uploads == ["u0", "u1"])
    #expect(tus.server.requests.allSatisfy { !$0.target.contains("source.bin") })
    for way in [UploadProtocol.automatic, .tus(TusOptions())] {
      let absent = await fixture.send(try fixture.upload(to: tus.url, by: way, onlyIfAbsent: true))
      #expect(word(absent.error) == "unsupported")
    }
    #expect(tus.uploads == ["u0", "u1"])
    for status in [200, 404, 405, 500] {
      let server = try LoopbackServer { .response($0.method == "OPTIONS" ? status : 201) }
      let first = await fixture.send(try fixture.upload(to: server.url("/in/source.bin"), by: .automatic))
      #expect(first.isSuccess)
      #expect(server.requests.last?.bodySHA256 == fixture.payload.sha256)
      #expect(await fixture.send(try fixture.upload(to: server.url("/in/source.bin"), by: .automatic)).isSuccess)
      #expect(server.requests.filter { $0.method == "OPTIONS" }.count == (status == 500 ? 2 : 1))
    }
    let silent = try LoopbackServer { $0.method == "OPTIONS" ? [.reset] : .response(201) }
    #expect(await fixture.send(try fixture.upload(to: silent.url("/a"), by: .automatic)).isSuccess)
    let moved = try LoopbackServer { $0.method == "OPTIONS" ? .redirect(to: "/login") : .response(201) }
    #expect(await fixture.send(try fixture.upload(to: moved.url("/a"), by: .automatic)).isSuccess)
  }
}

extension Payload {
  var sha1: String { digest(.sha1).base64EncodedString() }
}
