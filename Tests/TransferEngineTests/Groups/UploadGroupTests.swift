import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct UploadGroupTests {
  /// Uploads of one source to `/0`, `/1`, ….
  static func items(
    _ fixture: UploadFixture, _ server: LoopbackServer, _ tags: Range<Int>, by way: UploadProtocol = .plain,
    change: (inout GroupUpload) -> Void = { _ in }
  ) throws -> [GroupUpload] {
    try tags.map { tag in
      var item = GroupUpload(tag: tag, try fixture.upload(to: server.url("/\(tag)"), by: way))
      change(&item)
      return item
    }
  }

  @Test("3,000 files arrive, each with one request, over at most 8 connections, and all stay in the group")
  func many() async throws {
    let fixture = try UploadFixture(size: 2000)
    let server = try LoopbackServer { _ in .response(201) }
    let group = fixture.session.uploadGroup()
    for first in stride(from: 0, to: 3000, by: 500) { group.add(try Self.items(fixture, server, first..<first + 500)) }
    group.finish()
    let responses = await group.responses()
    #expect(responses.count == 3000)
    #expect(responses.values.allSatisfy { $0.isSuccess && $0.bytesSent == 2000 && $0.head?.status == 201 })
    #expect(group.core.endedInside.load(ordering: .relaxed) == 3000)
    #expect(server.requests.count == 3000)
    #expect(Set(server.requests.map(\.target)) == Set((0..<3000).map { "/\($0)" }))
    #expect(server.requests.allSatisfy { $0.method == "PUT" && $0.bodySHA256 == fixture.payload.sha256 })
    #expect(server.counters.maxOpenConnections <= 8)
  }

  // MARK: A group of one and a single upload

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let size: Int64
    let script: @Sendable (ServedRequest) -> Script
    var change: @Sendable (inout FileUpload) -> Void

    init(
      _ name: String, size: Int64 = 3000, _ change: @escaping @Sendable (inout FileUpload) -> Void = { _ in },
      script: @escaping @Sendable (ServedRequest) -> Script
    ) {
      (testDescription, self.size, self.script, self.change) = (name, size, script, change)
    }
  }

  static let all: [Case] = [
    Case("201") { _ in .response(201) },
    Case("empty", size: 0) { _ in .response(204) },
    Case("1 MiB", size: 1 << 20) { _ in .response(200) },
    Case("longer than 1 MiB", size: (1 << 20) + 1) { _ in .response(200) },
    Case("a body in the response") { _ in .response(200, body: Data("stored".utf8)) },
    Case("304") { _ in .response(304) },
    Case("401") { _ in .response(401) },
    Case("404") { _ in .response(404) },
    Case("429 with Retry-After") { _ in .response(429, headers: ["Retry-After": "17"]) },
    Case("503") { _ in .response(503) },
    Case("507, closed") { _ in .response(507, headers: ["Connection": "close"]) },
    Case("reset") { _ in [.reset] },
    Case("no response") { _ in [.close] },
    Case("the head is cut off") { _ in [.raw(Data("HTTP/1.1 200 O".utf8)), .close] },
    Case("the body of a success is cut off") { _ in
      [.status(200, headers: ["Content-Length": "10"]), .body(Data("abc".utf8)), .close]
    },
    Case("redirected with 307") { request in
      request.target == "/0" ? .response(307, headers: ["Location": "/other"]) : .response(201)
    },
    Case("redirected with 302") { _ in .response(302, headers: ["Location": "/other"]) },
    Case("redirected to a file") { _ in .response(308, headers: ["Location": "file:///etc/passwd"]) },
    Case("redirected for ever") { _ in .response(307, headers: ["Location": "/0"]) },
    Case("only if absent", { $0.onlyIfAbsent = true }) { request in
      .response(request.headers["If-None-Match"] == "*" ? 412 : 201)
    },
    Case("POST", { $0.request.method = .post }) { _ in .response(201) },
    Case("verified length", { $0.verifiesLength = true }) { request in
      request.method == "HEAD" ? .response(200, headers: ["Content-Length": "1"]) : .response(201)
    },
    Case(
      "headers and credentials",
      { upload in
        upload.request.headers[.userAgent] = "test"
        upload.request.credentials = Credentials(username: "x", password: "y")
      }
    ) { request in .response(request.headers["Authorization"] == "Basic eDp5" ? 201 : 401) },
    Case("no source", { $0.source += "-not-there" }) { _ in .response(201) },
    Case("the source is a directory", { $0.source = String($0.source.parentPath) }) { _ in .response(201) },
    Case("automatic", { $0.protocol = .automatic }) { request in
      .response(request.method == "OPTIONS" ? 405 : 201)
    },
  ]

  /// The facts that the caller and the server see.
  private struct Facts: Equatable {
    var error: String
    var status: Int?
    var bytes: [Int64?]
    var source: SourceIdentity?
    var origin: String?
    var transfers: Int
    var requests: [String]
  }

  private static func facts(_ response: FileUploadResponse, _ server: LoopbackServer) -> Facts {
    Facts(
      error: word(response.error), status: response.head?.status,
      bytes: [response.bytesAcknowledged, response.totalBytes, response.resumedFrom], source: response.source,
      origin: response.respondingOrigin == server.url("/").dropLast().description
        ? "server" : response.respondingOrigin,
      transfers: response.metrics.count,
      requests: server.requests.map { request in
        let fields = request.headers.filter { $0.name != "Host" }.map { "\($0.name): \($0.value)" }.sorted()
        return "\(request.method) \(request.target) \(fields) \(request.bodySHA256)"
      })
  }

  @Test("a group of one gives the response of a single upload, and the server sees the same requests", arguments: all)
  func equal(_ given: Case) async throws {
    let fixture = try UploadFixture(size: given.size)
    let servers = [try LoopbackServer(given.script), try LoopbackServer(given.script)]
    let uploads = try servers.map { server in
      var upload = try fixture.upload(to: server.url("/0"))
      given.change(&upload)
      return upload
    }
    let single = Self.facts(await fixture.send(uploads[0]), servers[0])
    let response = try #require(await fixture.session.uploads([GroupUpload(tag: 0, uploads[1])]).responses()[0])
    let grouped = Self.facts(response, servers[1])
    #expect(grouped == single)
  }

  @Test("a request reports the same events in a group and by itself", arguments: [201, 404])
  func events(status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status) }
    func names(_ run: (UploadFixture) async throws -> Void) async throws -> [String] {
      let recorder = EventRecorder()
      try await run(try UploadFixture(size: 100, session: Session(eventMonitors: [recorder])))
      return recorder.events.value.map { String("\($0)".prefix { $0 != "(" }) }
    }
    let single = try await names { fixture in _ = await fixture.send(try fixture.upload(to: server.url("/0"))) }
    let group = try await names { fixture in
      _ = await fixture.session.uploads(try Self.items(fixture, server, 0..<1)).responses()
    }
    #expect(group == single)
    #expect(single.contains("send"))
  }

  // MARK: Leaving the group

  @Test("automatic uploads send one OPTIONS request, and later uploads stay in the group")
  func automatic() async throws {
    let fixture = try UploadFixture(size: 100)
    let server = try LoopbackServer { request in .response(request.method == "OPTIONS" ? 405 : 201) }
    let group = fixture.session.uploadGroup()
    let change = { (item: inout GroupUpload) in item.upload.collection = try? RequestURL(server.url("/")) }
    group.add(try Self.items(fixture, server, 0..<1, by: .automatic, change: change))
    var iterator = group.makeAsyncIterator()
    #expect(await iterator.next()?.first?.response.isSuccess == true)
    group.add(try Self.items(fixture, server, 1..<200, by: .automatic, change: change))
    group.finish()
    #expect(await group.responses().values.allSatisfy(\.isSuccess))
    #expect(group.core.endedInside.load(ordering: .relaxed) == 199)
    #expect(server.requests.count { $0.method == "OPTIONS" } == 1)
    #expect(server.requests.count { $0.method == "PUT" } == 200)
  }

  @Test(
    "onChange decides whether a source that changed after its last byte is sent again or fails",
    arguments: [true, false])
  func changed(restarts: Bool) async throws {
    let fixture = try UploadFixture(size: 100)
    let new = Payload(size: 200, seed: 7)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer { request in
      request.bodySHA256 == new.sha256 ? .response(201) : [.signal(reached), .waitFor(proceed)] + .response(201)
    }
    let group = fixture.session.uploads(
      try Self.items(fixture, server, 0..<1) { $0.upload.onChange = restarts ? .restart : .fail })
    try await reached.wait()
    try fixture.change(to: new, inPlace: false)
    proceed.open()
    let response = try #require(await group.responses()[0])
    #expect(word(response.error) == (restarts ? "success" : "changed"))
    #expect(server.requests.map(\.bodySHA256) == [fixture.payload.sha256] + (restarts ? [new.sha256] : []))
  }

  @Test("a retrier of the upload or of the session retries an upload in a group")
  func retries() async throws {
    let fixture = try UploadFixture(size: 100)
    let server = try LoopbackServer { .response($0.index == 0 ? 503 : 201) }
    let group = fixture.session.uploads(try Self.items(fixture, server, 0..<1) { $0.interceptor = .soon })
    #expect(await group.responses()[0]?.isSuccess == true)
    #expect(server.requests.count == 2)
    // The session's retrier is also called after a failure in the group.
    let retrying = try UploadFixture(size: 100, session: Session(interceptor: RetryPolicy.soon))
    let other = try LoopbackServer { .response($0.index == 0 ? 503 : 201) }
    #expect(await retrying.session.uploads(try Self.items(retrying, other, 0..<1)).responses()[0]?.isSuccess == true)
  }

  // MARK: Cancelling

  @Test("a waiting upload and a running upload can be cancelled")
  func cancelled() async throws {
    let fixture = try UploadFixture(size: 100)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer { _ in [.signal(reached), .waitFor(proceed)] + .response(201) }
    let group = fixture.session.uploads(try Self.items(fixture, server, 0..<400), maximumConnections: 1)
    try await reached.wait()
    // The last uploads are not prepared yet.
    for tag in 1..<400 { group.cancel(tag) }
    var iterator = group.makeAsyncIterator()
    var ended = 0
    while ended < 399, let outcomes = await iterator.next() {
      for outcome in outcomes { #expect(outcome.response.error?.isCancellation == true) }
      ended += outcomes.count
    }
    #expect(group.progress(0)?.total == 100)
    group.cancelAll()
    let last = await iterator.next()
    #expect(last?.first?.response.error?.isCancellation == true)
    #expect(group.progress(0) == nil)
    #expect(server.requests.count == 1)
    proceed.open()
  }

  @Test(
    "a cancelled running upload has metrics, and a cancelled upload whose source changed is not sent again"
  )
  func cancelledLate() async throws {
    let fixture = try UploadFixture(size: 100)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer { _ in [.signal(reached), .waitFor(proceed)] + .response(201) }
    let group = fixture.session.uploads(try Self.items(fixture, server, 0..<1))
    try await reached.wait()
    group.cancelAll()
    let response = try #require(await group.responses()[0])
    #expect(word(response.error) == "cancelled")
    #expect(response.metrics.count == 1)
    proceed.open()

    // The upload is accepted by the server, then the source changes and the upload is cancelled before its check.
    let other = try LoopbackServer { _ in .response(201) }
    let core = UploadGroupCore(fixture.session, maximumConnections: 1)
    let member = UploadGroupMember(try Self.items(fixture, other, 0..<1)[0], core)
    member.prepare()
    let prepared = try #require(member.prepared)
    let outcome = await fixture.session.loop.perform(prepared.wire, id: member.transferID, receiver: prepared.receiver)
    // The source is checked after this turn of the loop.
    await fixture.session.loop.run { _ in
      member.transferEnded(outcome)
      do { try fixture.change(to: Payload(size: 200, seed: 3), inPlace: false) } catch { Issue.record(error) }
      #expect(!member.cancel())
    }
    let ended = await core.nextOutcomes()
    #expect(ended?.count == 1 && word(ended?.first?.response.error) == "cancelled")
    #expect(other.requests.count == 1)
  }

  @Test("cancelAllRequests cancels upload groups too and reports when they have ended")
  func session() async throws {
    let fixture = try UploadFixture(size: 100)
    let (reached, proceed, ended) = (Gate(), Gate(), Gate())
    let server = try LoopbackServer { _ in [.signal(reached), .waitFor(proceed)] + .response(201) }
    let group = fixture.session.uploads(try Self.items(fixture, server, 0..<300), maximumConnections: 1)
    try await reached.wait()
    fixture.session.cancelAllRequests { ended.open() }
    try await ended.wait()
    let responses = await group.responses()
    #expect(responses.count == 300)
    #expect(responses.values.allSatisfy { $0.error?.isCancellation == true })
    proceed.open()
  }
}

extension UploadGroup {
  /// All responses by tag, after the end of the group.
  func responses() async -> [Int: FileUploadResponse] {
    var all: [Int: FileUploadResponse] = [:]
    for await outcomes in self {
      for outcome in outcomes {
        #expect(all[outcome.tag] == nil, "two outcomes for \(outcome.tag)")
        all[outcome.tag] = outcome.response
      }
    }
    return all
  }
}
