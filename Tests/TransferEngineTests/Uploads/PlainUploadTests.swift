import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct PlainUploadTests {
  @Test(
    "a file of any size arrives byte for byte, by one request and without a record",
    arguments: [0, 1, 65536, 1_048_576, 1_048_577, 5 << 20 - 1, 5 << 20 + 1] as [Int64])
  func sizes(_ size: Int64) async throws {
    let fixture = try UploadFixture(size: size)
    let server = try LoopbackServer { _ in .response(201) }
    let journal = UploadRecorder()
    let shown = Watched<[UploadProgress]>([])
    let request = fixture.session.upload(try fixture.upload(to: server.url("/in/a.bin")), journal: journal)
      .uploadProgress { progress in shown.mutate { $0.append(progress) } }
    let response = await request.response()
    #expect(word(response.error) == "success")
    #expect(response.head?.status == 201)
    #expect(response.bytesSent == size)
    #expect(response.bytesAcknowledged == size)
    #expect(response.totalBytes == size)
    #expect(response.ledger == nil)
    #expect(response.source == (try SourceIdentity(path: fixture.path)))
    #expect(journal.records.value.isEmpty)
    #expect(server.requests.count == 1)
    let request0 = server.requests[0]
    #expect(request0.method == "PUT")
    #expect(request0.target == "/in/a.bin")
    #expect(request0.headers["Content-Length"] == String(size))
    #expect(request0.headers["Transfer-Encoding"] == nil)
    #expect(request0.headers["Expect"] == (size > 1 << 20 ? "100-continue" : nil))
    #expect(request0.bodySHA256 == fixture.payload.sha256)
    #expect(request.progress == UploadProgress(sent: size, acknowledged: size, total: size))
    #expect(zip(shown.value, shown.value.dropFirst()).allSatisfy { $0.sent <= $1.sent })
  }

  @Test(
    "an error response before the body is accepted, and no body is sent",
    arguments: [401, 403, 404, 413, 500])
  func earlyRefusal(status: Int) async throws {
    let fixture = try UploadFixture(size: 8 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in .response(status, headers: ["Connection": "close"]) }
    let start = ContinuousClock.now
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "status \(status)")
    #expect(response.error?.isTransient == (status == 500))
    // libcurl sends the body if the server does not respond within a second.
    #expect(response.bytesSent == 0 || start.duration(to: .now) >= .seconds(1))
  }

  @Test("a response in the middle of the body stops the upload", arguments: [401, 413, 507])
  func refusalInTheMiddle(status: Int) async throws {
    let fixture = try UploadFixture(size: 32 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [
        .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(upTo: 1 << 20),
        .status(status, headers: ["Content-Length": "0", "Connection": "close"]), .stall,
      ]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "status \(status)")
    #expect(response.bytesSent < 32 << 20)
  }

  @Test("after a 417 response the request is sent again without Expect")
  func expectationFailed() async throws {
    let fixture = try UploadFixture(size: 3 << 20)
    let server = try LoopbackServer(bodies: .byScript) { request in
      request.headers["Expect"] != nil
        ? .response(417, headers: ["Connection": request.target == "/close" ? "close" : "keep-alive"])
        : [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "success")
    #expect(server.requests.last?.bodySHA256 == fixture.payload.sha256)
  }

  @Test("a success before the server received the whole body is an error")
  func earlySuccess() async throws {
    let fixture = try UploadFixture(size: 64 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [
        .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(upTo: 1 << 20),
        .status(201, headers: ["Content-Length": "0", "Connection": "close"]), .reset,
      ]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(["early", "broken"].contains(word(response.error)))
    #expect(response.error?.isTransient == true)
  }

  @Test("an early success is an error unless the server reads the body before its response ends")
  func swallowed() async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.readBody(upTo: 1 << 16), .status(201, headers: ["Content-Length": "0"]), .close]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "early")
    let late = try LoopbackServer(bodies: .byScript) { _ in
      [
        .readBody(upTo: 1 << 16), .status(201, headers: ["Content-Length": "2"]), .readBody(), .body(Data("ok".utf8)),
        .keepAlive,
      ]
    }
    #expect(word(await fixture.send(try fixture.upload(to: late.url("/a"))).error) == "success")
  }

  @Test("a POST that is answered with a success before its whole body was sent is not sent again")
  func earlyPost() async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.readBody(upTo: 1 << 16), .status(201, headers: ["Content-Length": "0"]), .close]
    }
    let response = await fixture.send(
      try fixture.upload(to: server.url("/a"), method: .post), interceptor: .atOnce(3))
    #expect(word(response.error) == "unknown")
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count == 1)
  }

  @Test("after a lost response a PUT can be retried, but a POST cannot", arguments: [true, false])
  func lostAnswer(isPUT: Bool) async throws {
    let fixture = try UploadFixture(size: 100_000)
    let server = try LoopbackServer { _ in [.reset] }
    let upload = try fixture.upload(to: server.url("/a"), method: isPUT ? .put : .post)
    let journal = UploadRecorder()
    let response = await fixture.send(upload, journal: journal)
    #expect(word(response.error) == (isPUT ? "broken" : "unknown"))
    #expect(response.error?.isTransient == isPUT)
    #expect(server.requests.count == 1)
    if !isPUT {
      // An attempt after a kill, which finds the journal record, gives the same error.
      #expect(journal.records.value.count == 1)
      let again = await fixture.send(upload, resumingWith: journal.last, journal: journal)
      #expect(word(again.error) == "unknown")
      #expect(server.requests.count == 1)
    }
  }

  @Test("libcurl does not send a POST twice on a connection that the server has closed")
  func postOnDeadConnection() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { $0.indexOnConnection == 0 ? .response(200) : [.reset] }
    for _ in 0..<3 {
      let response = await fixture.send(try fixture.upload(to: server.url("/a"), method: .post))
      #expect(word(response.error) == "success")
    }
    #expect(server.requests.count == 3)
  }

  /// libcurl ends such a transfer without an error.
  @Test("a POST whose response breaks off in its head is not sent again")
  func brokenHead() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { _ in [.raw(Data("HTTP/1.1 200 OK\r\nX-Field: a".utf8)), .close] }
    let upload = try fixture.upload(to: server.url("/a"), method: .post)
    let response = await fixture.send(upload, interceptor: .atOnce(3))
    #expect(word(response.error) == "unknown")
    #expect(response.ledger != nil)
    #expect(server.requests.count == 1)
  }

  /// The same file with another time was stored twice.
  @Test("a POST with an unknown outcome is not sent again because its source has changed since")
  func unknownThenChanged() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { _ in [.close] }
    let upload = try fixture.upload(to: server.url("/a"), method: .post)
    let first = await fixture.send(upload)
    #expect(word(first.error) == "unknown")
    try fixture.change(to: Payload(size: 2000, seed: 2), inPlace: false)
    #expect(first.ledger != nil)
    let second = await fixture.send(upload, resumingWith: first.ledger)
    #expect(word(second.error) == "unknown")
    #expect(second.ledger == first.ledger)
    #expect(server.requests.count == 1)
    // To another target it is another upload.
    let other = try LoopbackServer { _ in .response(201) }
    let elsewhere = try fixture.upload(to: other.url("/b"), method: .post)
    let third = await fixture.send(elsewhere, resumingWith: first.ledger)
    #expect(word(third.error) == "success")
  }

  @Test("a POST that is interrupted before its last byte, or refused, leaves no ledger")
  func brokenPost() async throws {
    let fixture = try UploadFixture(size: 64 << 20)
    let server = try LoopbackServer(bodies: .byScript) { request in
      request.index == 0
        ? [.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(upTo: 1 << 20), .reset] : .response(503)
    }
    let upload = try fixture.upload(to: server.url("/a"), method: .post)
    let response = await fixture.send(upload)
    #expect(word(response.error) == "broken")
    #expect(response.ledger == nil)
    let refused = await fixture.send(upload)
    #expect(word(refused.error) == "status 503")
    #expect(refused.ledger == nil)
    let closed = try ClosedPort()
    let unreachable = await fixture.send(try fixture.upload(to: "http://127.0.0.1:\(closed.number)/a", method: .post))
    #expect(word(unreachable.error) == "refused")
    #expect(unreachable.ledger == nil)
  }

  @Test("a retry begins with the first byte again", arguments: [0, 1, 1_500_000] as [Int64])
  func rewinding(after bytes: Int64) async throws {
    let fixture = try UploadFixture(size: 4 << 20)
    let server = try LoopbackServer(bodies: .byScript) { request in
      let go = Script.Step.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      return request.index < 2
        ? [go, .readBody(upTo: bytes), .reset]
        : [go, .readBody(), .status(200, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")), interceptor: .atOnce(3))
    #expect(word(response.error) == "success")
    #expect(server.requests.count == 3)
    #expect(server.requests[2].bodySHA256 == fixture.payload.sha256)
  }

  @Test("a dead pooled connection is replaced, and the body arrives completely")
  func deadConnection() async throws {
    let fixture = try UploadFixture(size: 300_000)
    let server = try LoopbackServer { $0.indexOnConnection == 0 ? .response(200) : [.close] }
    for _ in 0..<3 { #expect(await fixture.send(try fixture.upload(to: server.url("/a"))).isSuccess) }
    let whole = server.requests.filter { $0.indexOnConnection == 0 }
    #expect(whole.count == 3)
    #expect(whole.allSatisfy { $0.bodySHA256 == fixture.payload.sha256 })
  }

  @Test("after 307 and 308 the body is sent to another origin without secrets", arguments: [307, 308])
  func redirected(status: Int) async throws {
    let fixture = try UploadFixture(size: 3 << 20)
    let target = try LoopbackServer { _ in .response(201) }
    let server = try LoopbackServer(bodies: .byScript) { _ in .redirect(to: target.url("/there"), status: status) }
    let response = await fixture.send(
      try fixture.upload(
        to: server.url("/a"), headers: [.authorization: "Bearer x", .cookie: "a=b", HTTPField.Name("X-Api-Key")!: "k"],
        credentials: Credentials(username: "u", password: "p")))
    #expect(word(response.error) == "success")
    #expect(response.respondingOrigin == "http://\(target.authority)")
    let arrived = target.requests[0]
    #expect(arrived.method == "PUT")
    #expect(arrived.bodySHA256 == fixture.payload.sha256)
    for name in ["Authorization", "Cookie", "X-Api-Key"] { #expect(arrived.headers[name] == nil) }
    #expect(response.bytesSent == 3 << 20)
  }

  @Test("an upload does not follow 301, 302 and 303", arguments: [301, 302, 303])
  func otherRedirects(status: Int) async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b", status: status) : .response(200) }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "redirect")
    #expect(server.requests.count == 1)
  }

  @Test("verifiesLength compares the length at the server", arguments: [1000, 999, nil] as [Int?])
  func lengthAtTheServer(_ length: Int?) async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { request in
      guard request.method == "HEAD" else { return .response(201) }
      guard let length else { return .response(405) }
      return [.status(200, headers: ["Content-Length": String(length)]), .keepAlive]
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a"), verifiesLength: true))
    #expect(word(response.error) == (length == 999 ? "length" : "success"))
  }

  @Test("onlyIfAbsent does not replace an existing file")
  func onlyIfAbsent() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { .response($0.headers["If-None-Match"] == "*" ? 412 : 201) }
    let response = await fixture.send(try fixture.upload(to: server.url("/a"), onlyIfAbsent: true))
    #expect(word(response.error) == "status 412")
    #expect(response.error?.isTransient == false)
  }

  @Test("limitRate limits the speed of an upload")
  func limitRate() async throws {
    let fixture = try UploadFixture(size: 300_000)
    let server = try LoopbackServer { _ in .response(200) }
    let start = ContinuousClock.now
    #expect(await fixture.send(try fixture.upload(to: server.url("/a"), limitRate: 200_000)).isSuccess)
    #expect(start.duration(to: .now) > .milliseconds(900))
  }

  @Test("a suspended upload stops, and a resumed upload sends the whole file")
  func suspend() async throws {
    let fixture = try UploadFixture(size: 64 << 20)
    let (moved, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(bodies: .byScript) { request in
      let go = Script.Step.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      return request.index == 0
        ? [go, .readBody(upTo: 1 << 20), .waitFor(proceed), .readBody()]
        : [go, .readBody(), .status(200, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let request = fixture.session.upload(try fixture.upload(to: server.url("/a")))
      .uploadProgress { if $0.sent > 1 << 20 { moved.open() } }.resume()
    try await moved.wait()
    request.suspend()
    // The suspend is processed before these later transfers end.
    let small = try LoopbackServer(.file(size: 1 << 20))
    for _ in 0..<5 { #expect(await fixture.session.request(small.url("/")).response().error == nil) }
    proceed.open()
    try await server.waitForCounters { $0.openConnections == 0 }
    #expect(request.state == .suspended)
    request.resume()
    let response = await request.response()
    #expect(
      word(response.error) == "success", "\(String(describing: response.error)), \(server.requests.count) requests")
    #expect(server.requests.last?.bodySHA256 == fixture.payload.sha256)
  }

  @Test("a cancelled upload ends at once")
  func cancel() async throws {
    let fixture = try UploadFixture(size: 64 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(upTo: 1 << 20), .stall]
    }
    let moved = Gate()
    let request = fixture.session.upload(try fixture.upload(to: server.url("/a")))
      .uploadProgress { if $0.sent > 1 << 20 { moved.open() } }.resume()
    try await moved.wait()
    request.cancel()
    #expect(word(await request.response().error) == "cancelled")
  }
}
