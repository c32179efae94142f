import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Responses that arrive before the body is sent, and streams with a slow source or a slow server.
@Suite(.timeLimit(.minutes(5))) struct EarlyResponseTests {
  private static let large = Payload(size: 8 << 20)
  private static let go = Script.Step.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))

  @Test("no body is sent if the server rejects Expect: 100-continue", arguments: BodyKind.allCases, [401, 403, 413])
  func refusedBeforeBody(_ kind: BodyKind, _ status: Int) async throws {
    let directory = try TemporaryDirectory()
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.status(status, headers: ["Content-Length": "4", "Connection": "close"]), .body(Data("full".utf8)), .close]
    }
    let request = try kind.upload(Self.large, to: server.url("/"), method: .put, in: directory).validate()
    let response = await request.response()
    #expect(response.error?.status == status)
    #expect(response.data == Data("full".utf8))
    // libcurl sends the body if the server does not respond within a second.
    let isInTime = response.metrics.last.map { $0.firstByte < .seconds(1) } == true
    #expect(request.sent.completed == 0 || !isInTime)
  }

  @Test("an error response in mid-body stops the upload, and its status is the error", arguments: BodyKind.allCases)
  func refusedInMidBody(_ kind: BodyKind) async throws {
    let directory = try TemporaryDirectory()
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [Self.go, .readBody(upTo: 1 << 20), .status(413, headers: ["Content-Length": "0"]), .close]
    }
    let payload = Payload(size: 64 << 20)
    let request = try kind.upload(payload, to: server.url("/"), method: .put, in: directory).validate()
    let response = await request.response()
    #expect(response.error?.status == 413, "\(String(describing: response.error))")
    #expect(request.sent.completed < payload.size)
  }

  @Test("after a 417 response the body is sent without Expect")
  func expectationFailed() async throws {
    let server = try LoopbackServer(bodies: .byScript) { request in
      request.headers["Expect"] != nil ? .response(417) : [.readBody()] + .response(200, text: "kept")
    }
    #expect(
      try await Session().upload(Self.large.data, to: server.url("/")).validate().serializingString().value == "kept")
    #expect(server.requests.last?.bodySHA256 == Self.large.sha256)
    #expect(server.requests.count == 2)
  }

  @Test("a server that ignores Expect gets the body")
  func expectationIgnored() async throws {
    let server = try LoopbackServer(bodies: .byScript) { _ in [.readBody()] + .response(200) }
    #expect(await Session().upload(Self.large.data, to: server.url("/")).validate().response().error == nil)
    #expect(server.requests[0].bodySHA256 == Self.large.sha256)
  }

  @Test("a success before the body was sent is an error", arguments: BodyKind.allCases, [false, true])
  func earlySuccess(_ kind: BodyKind, _ isInMidBody: Bool) async throws {
    let directory = try TemporaryDirectory()
    let server = try LoopbackServer(bodies: .byScript) { _ in
      let before: Script = isInMidBody ? [Self.go, .readBody(upTo: 1 << 20)] : []
      return before + [
        .status(200, headers: ["Content-Length": "2", "Connection": "close"]), .body(Data("ok".utf8)), .reset,
      ]
    }
    let payload = Payload(size: 64 << 20)
    let response = try await kind.upload(payload, to: server.url("/"), method: .put, in: directory).response()
    switch response.error {
    case .body(.answeredEarly(status: 200, _, _)): #expect(response.error?.isTransient == false)
    // The reset arrived first, while a piece was being sent.
    case .connection(.broken) where isInMidBody: break
    case let other: Issue.record("\(String(describing: other))")
    }
  }

  // MARK: Streams

  @Test("an upload reads no more from its source while the server does not read")
  func backPressure() async throws {
    let proceed = Gate()
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [Self.go, .waitFor(proceed), .readBody()] + .response(200)
    }
    let pieces = PayloadPieces(payload: Payload(size: 64 << 20))
    let session = Session()
    let request = session.upload(pieces, to: server.url("/"), replay: .once).resume()
    try await pieces.given.wait(for: "a megabyte") { $0 > 1 << 20 ? () : nil }
    let other = try LoopbackServer(.file(size: 20 << 20))
    #expect(await session.request(other.url("/")).response().error == nil)
    #expect(pieces.given.value < 32 << 20)
    proceed.open()
    #expect(await request.validate().response().error == nil)
    #expect(server.requests[0].bodySHA256 == pieces.payload.sha256)
  }

  @Test("an upload waits for a slow source")
  func slowSource() async throws {
    let first = Gate()
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [Self.go, .readBody(upTo: 5), .signal(first), .readBody()] + .response(200)
    }
    let (pieces, source) = AsyncStream<Data>.makeStream()
    let request = Session().upload(pieces, to: server.url("/"), replay: .once).resume()
    source.yield(Data("first".utf8))
    try await first.wait()
    for word in ["", "-second", "-third"] { source.yield(Data(word.utf8)) }
    source.finish()
    #expect(await request.response().error == nil)
    #expect(server.requests[0].body == Data("first-second-third".utf8))
    #expect(request.sent == TransferProgress(completed: 18, total: 18))
  }

  @Test("an upload reports a source that sends no data, and an error response does not wait for the source")
  func silentSource() async throws {
    let (pieces, source) = AsyncStream<Data>.makeStream()
    source.yield(Data("x".utf8))
    let server = try LoopbackServer(bodies: .byScript) { request in
      request.path == "/full"
        ? [Self.go, .readBody(upTo: 1)] + .response(507) : [Self.go, .readBody()] + .response(200)
    }
    let silent = Session().upload(
      pieces, to: server.url("/"), requestModifier: { $0.stallTimeout = .seconds(8) }, replay: .once)
    guard case .body(.starved)? = await silent.response().error else {
      Issue.record("\(String(describing: silent.error))")
      return
    }
    let (more, moreSource) = AsyncStream<Data>.makeStream()
    moreSource.yield(Data("x".utf8))
    let refused = Session().upload(more, to: server.url("/full"), replay: .once).validate()
    #expect(await refused.response().error?.status == 507)
    source.finish()
    moreSource.finish()
  }

  @Test("a source that throws fails the upload, with and without spooling", arguments: [StreamReplay.once, .spooled])
  func failingSource(_ replay: StreamReplay) async throws {
    struct Oops: Error {}
    let server = try LoopbackServer(bodies: .byScript) { _ in [Self.go, .readBody()] + .response(200) }
    let (pieces, source) = AsyncThrowingStream<Data, any Error>.makeStream()
    source.yield(Data("x".utf8))
    source.finish(throwing: Oops())
    let response = await Session().upload(pieces, to: server.url("/"), replay: replay).response()
    guard case .body(.streamFailed("Oops()"))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("a stream without spooling is not sent twice")
  func notReplayable() async throws {
    let server = try LoopbackServer { request in
      request.path == "/away" ? .redirect(to: "/x", status: 307) : .response(503)
    }
    let session = Session()
    let payload = Payload(size: 100_000)
    let failed = session.upload(
      PayloadPieces(payload: payload), to: server.url("/"), method: .put, interceptor: .atOnce(3), replay: .once
    ).validate()
    #expect(await failed.response().error?.status == 503)
    #expect(server.requests.count == 1)
    let redirected = session.upload(PayloadPieces(payload: payload), to: server.url("/away"), replay: .once)
    guard case .body(.notReplayable)? = await redirected.response().error else {
      Issue.record("\(String(describing: redirected.error))")
      return
    }
    // If there is a retrier, the stream is spooled by default.
    let kept = session.upload(
      PayloadPieces(payload: payload), to: server.url("/"), method: .put, interceptor: .atOnce(1)
    ).validate()
    #expect(await kept.response().error?.status == 503)
    #expect(server.requests.suffix(2).map(\.bodySHA256) == [payload.sha256, payload.sha256])
  }
}
