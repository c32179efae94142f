import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Pieces of a payload as an asynchronous sequence that counts the bytes it has delivered.
struct PayloadPieces: AsyncSequence, Sendable {
  let payload: Payload
  var piece: Int64 = 64 << 10
  let given = Watched<Int64>(0)

  struct Iterator: AsyncIteratorProtocol {
    let pieces: PayloadPieces
    var offset: Int64 = 0

    mutating func next() async -> Data? {
      let end = Swift.min(offset + pieces.piece, pieces.payload.size)
      guard offset < end else { return nil }
      let data = pieces.payload.bytes(offset..<end)
      offset = end
      pieces.given.mutate { [offset] in $0 = offset }
      return data
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }
}

/// The kinds of upload bodies.
enum BodyKind: String, CaseIterable, Sendable {
  case data, file, spooled, once

  func upload(
    _ payload: Payload, to url: String, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    session: Session = Session(), interceptor: (any RequestInterceptor)? = nil, in directory: TemporaryDirectory
  ) throws -> UploadRequest {
    switch self {
    case .data:
      return session.upload(payload.data, to: url, method: method, headers: headers, interceptor: interceptor)
    case .file:
      let path = directory.path("source-\(UUID())")
      try payload.write(to: path)
      return session.upload(
        URL(fileURLWithPath: path), to: url, method: method, headers: headers, interceptor: interceptor)
    case .spooled, .once:
      return session.upload(
        PayloadPieces(payload: payload), to: url, method: method, headers: headers, interceptor: interceptor,
        replay: self == .once ? .once : .spooled)
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct UploadTests {
  @Test("a body arrives byte for byte, however it is given", arguments: BodyKind.allCases, [0, 1, 100_000, 3 << 20])
  func bodies(_ kind: BodyKind, _ size: Int64) async throws {
    let payload = Payload(size: size)
    let directory = try TemporaryDirectory()
    let server = try LoopbackServer { _ in .response(201, text: "stored") }
    let request = try kind.upload(payload, to: server.url("/x"), method: .put, in: directory)
    let steps = Watched<[TransferProgress]>([])
    request.uploadProgress { step in steps.mutate { $0.append(step) } }
    #expect(try await request.serializingString().value == "stored")
    let served = server.requests[0]
    #expect(served.method == "PUT" && served.isBodyComplete && served.bodySHA256 == payload.sha256)
    #expect(served.headers["Content-Length"] == (kind == .once ? nil : "\(size)"))
    #expect(request.sent == TransferProgress(completed: size, total: size))
    #expect(steps.value.map(\.completed) == steps.value.map(\.completed).sorted())
    #expect(steps.value.first?.completed == 0 && steps.value.last?.completed == size)
    #expect(served.headers["Expect"] == (size > 1 << 20 || kind == .once ? "100-continue" : nil))
  }

  @Test("a retried upload is sent from its beginning", arguments: [BodyKind.data, .file, .spooled])
  func rewinds(_ kind: BodyKind) async throws {
    let payload = Payload(size: 3 << 20)
    let directory = try TemporaryDirectory()
    // First a part of the body and a reset, then the whole body and a 503, then the whole body and a 200.
    let server = try LoopbackServer(bodies: .byScript) { request in
      let go = Script.Step.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      switch request.index {
      case 0: return [go, .readBody(upTo: 1 << 20), .reset]
      case 1: return [go, .readBody()] + .response(503)
      default: return [go, .readBody()] + .response(200)
      }
    }
    let request = try kind.upload(
      payload, to: server.url("/"), method: .put, interceptor: .atOnce(5), in: directory
    ).validate()
    #expect(await request.response().error == nil)
    #expect(server.requests.count == 3)
    #expect(server.requests[1].bodySHA256 == payload.sha256)
    #expect(server.requests[2].bodySHA256 == payload.sha256)
  }

  /// libcurl sends such a request again by itself, because no byte of a response came on the reused connection.
  @Test(
    "a POST whose reused connection breaks in the middle of its body is not sent again", arguments: [200_000, 1 << 20])
  func postOnBreakingConnection(_ size: Int64) async throws {
    let server = try LoopbackServer(bodies: .byScript) { request in
      request.indexOnConnection == 0 ? [.readBody()] + .response(200) : [.readBody(upTo: 65_536), .reset]
    }
    let session = Session()
    let url = try RequestURL(server.url("/"))
    let first = await session.request(url, method: .post, body: .data(Data("a".utf8))).response()
    #expect(first.error == nil)
    let second = await session.request(url, method: .post, body: .data(Payload(size: size).data)).response()
    guard case .connection(.broken)? = second.error else {
      Issue.record("\(second.error as Any)")
      return
    }
    #expect(server.requests.count == 2)
  }

  @Test("307 and 308 send method and body again, to another origin without secrets", arguments: [307, 308])
  func redirectedWithBody(_ status: Int) async throws {
    let payload = Payload(size: 200_000)
    let directory = try TemporaryDirectory()
    let target = try LoopbackServer { _ in .response(200) }
    let server = try LoopbackServer { request in
      .redirect(to: request.path == "/a" ? "/b" : target.url("/c"), status: status)
    }
    for kind in [BodyKind.data, .file, .spooled] {
      for method in [HTTPMethod.put, .post] {
        let request = try kind.upload(
          payload, to: server.url("/a"), method: method,
          headers: [.contentType: "image/png", .authorization: "Bearer secret"], in: directory)
        #expect(await request.validate().response().error == nil)
        let served = try #require(target.requests.last)
        #expect(served.method == method.rawValue && served.bodySHA256 == payload.sha256)
        #expect(served.headers["Content-Type"] == "image/png")
        #expect(served.headers["Authorization"] == nil)
      }
    }
    #expect(server.requests.count == 12)
    #expect(server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
  }

  @Test("a redirect that would drop the body is an error, not a GET that looks like a success")
  func redirectedWithoutBody() async throws {
    let server = try LoopbackServer { request in
      let status = Int(request.path.dropFirst()) ?? 200
      return status == 200 ? .response(200) : .redirect(to: "/200", status: status)
    }
    let session = Session()
    for (method, status) in [(HTTPMethod.post, 301), (.post, 302), (.post, 303), (.put, 303)] {
      let response = await session.upload(Data("x".utf8), to: server.url("/\(status)"), method: method).response()
      guard case .redirect(.dropsBody(status, server.url("")))? = response.error else {
        Issue.record("\(method) \(status): \(String(describing: response.error))")
        continue
      }
    }
    #expect(server.requests.count == 4)
    // Only POST becomes GET by 301 and 302 (RFC 9110 §15.4.2).
    let put = await session.upload(Data("x".utf8), to: server.url("/301"), method: .put).response()
    #expect(put.error == nil && put.head?.status == 200)
    #expect(server.requests.last?.method == "PUT" && server.requests.last?.bodyLength == 1)
    // A redirector can allow the GET.
    let wanted = session.upload(Data("x".utf8), to: server.url("/303"), headers: [.contentType: "text/plain"])
      .redirect(using: .modify { request, _ in request })
    #expect(await wanted.response().error == nil)
    #expect(server.requests.last?.method == "GET")
    #expect(server.requests.last?.headers["Content-Type"] == nil)
    let declined = session.upload(Data("x".utf8), to: server.url("/303")).redirect(using: .doNotFollow)
    #expect(await declined.response().head?.status == 303)
  }

  @Test("a form arrives part by part, the same in every attempt")
  func multipart() async throws {
    let directory = try TemporaryDirectory()
    let payload = Payload(size: 300_000)
    let path = directory.path("photo.png")
    try payload.write(to: path)
    let server = try LoopbackServer { $0.index == 0 ? .response(503) : .response(200) }
    let request = Session().upload(
      multipartFormData: { form in
        form.append(Data("hello".utf8), withName: "note")
        form.append(URL(fileURLWithPath: path), withName: "file")
      }, to: server.url("/"), method: .put, interceptor: .atOnce(1)
    ).validate()
    #expect(await request.response().error == nil)
    let (first, second) = (server.requests[0], server.requests[1])
    #expect(first.bodySHA256 == second.bodySHA256)
    #expect(first.headers["Content-Type"] == second.headers["Content-Type"])
    let type = try #require(second.headers["Content-Type"])
    let boundary = try #require(type.split(separator: "boundary=").last)
    #expect(second.headers["Content-Length"] == "\(second.body.count)")
    #expect(second.body.starts(with: Data("--\(boundary)\r\n".utf8)))
    #expect(second.body.range(of: payload.data) != nil)
    let missing = await Session().upload(
      multipartFormData: { $0.append(URL(fileURLWithPath: "/nowhere"), withName: "a") }, to: server.url("/")
    ).response()
    #expect(missing.error?.code == .multipart)
    #expect(server.requests.count == 2)
  }

  @Test("a source file that is not there fails the upload")
  func missingFile() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let response = await Session().upload(URL(fileURLWithPath: "/nowhere/at/all"), to: server.url("/")).response()
    #expect(response.error?.code == .fileIO)
    #expect(server.requests.isEmpty)
  }

  @Test("a POST that was sent completely on a pooled connection is not repeated; a PUT is")
  func deadConnection() async throws {
    for (method, isRepeated) in [(HTTPMethod.post, false), (.patch, false), (.put, true)] {
      let server = try LoopbackServer { $0.indexOnConnection > 0 ? [.close] : .response(200) }
      let session = Session()
      #expect(await session.upload(Data("one".utf8), to: server.url("/"), method: method).response().error == nil)
      let second = await session.upload(Data("two".utf8), to: server.url("/"), method: method).response()
      #expect((second.error == nil) == isRepeated, "\(method)")
      #expect(server.requests.filter { $0.body == Data("two".utf8) }.count == (isRepeated ? 2 : 1), "\(method)")
      if !isRepeated { #expect(second.error?.code == .connectionLost) }
    }
  }

  @Test("a cancelled upload ends and stops reading its source")
  func cancelled() async throws {
    // It reads all that comes: the end of a connection whose bytes are not read arrives after minutes only.
    let server = try LoopbackServer(bodies: .byScript) { _ in [.readBody(upTo: .max), .stall] }
    let pieces = PayloadPieces(payload: Payload(size: 1 << 30))
    let request = Session().upload(pieces, to: server.url("/"), replay: .once)
    request.resume()
    try await pieces.given.wait(for: "a megabyte") { $0 > 1 << 20 ? () : nil }
    request.cancel()
    #expect(await request.response().error?.code == .cancelled)
    #expect(pieces.given.value < 1 << 29)
    try await server.waitForCounters { $0.openConnections == 0 }
  }
}
