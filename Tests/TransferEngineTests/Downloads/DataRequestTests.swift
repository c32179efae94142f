import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DataRequestTests {
  @Test("a body is kept in memory, whatever the status", arguments: [200, 404, 503])
  func plain(_ status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status, text: "hello") }
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    #expect(response.head?.status == status)
    #expect(response.error == nil)
    #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "hello")
  }

  @Test("a body is sent", arguments: [0, 1, 100_000])
  func post(_ size: Int) async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let body = Payload(size: Int64(size)).data
    let response = await Session().request(
      try RequestURL(server.url("/")), method: .post, headers: [.contentType: "text/plain"], body: .data(body)
    ).response()
    #expect(response.head?.status == 201)
    #expect(server.requests[0].method == "POST")
    #expect(server.requests[0].bodySHA256 == sha256(of: body))
    #expect(server.requests[0].headers["Content-Length"] == "\(size)")
  }

  @Test("gzip is decoded, and a decompression bomb is stopped at the size limit")
  func gzip() async throws {
    let payload = Payload(size: 50_000)
    let good = try LoopbackServer(.file(payload).gzipped())
    #expect(await Session().request(try RequestURL(good.url("/"))).response().data == payload.data)
    var configuration = SessionConfiguration()
    configuration.maximumBodyBytes = 1 << 20
    let bomb = try LoopbackServer(.file(payload).gzipBomb(unfoldingTo: 200 << 20))
    let response = await Session(configuration: configuration).request(try RequestURL(bomb.url("/"))).response()
    guard case .response(.bodyTooLarge(limit: 1_048_576))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.data?.count ?? 0 <= 1 << 20)
  }

  @Test("a truncated body is an error")
  func truncated() async throws {
    let server = try LoopbackServer(.file(size: 10_000).dropping(after: 5000))
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    #expect(response.error?.isTransient == true)
  }

  @Test("a stream gives its pieces in order")
  func stream() async throws {
    let payload = Payload(size: 5 << 20)
    let server = try LoopbackServer(.file(payload).chunked())
    let request = Session().streamRequest(try RequestURL(server.url("/")))
    #expect(try await request.responseHead().status == 200)
    var data = Data()
    for try await piece in request.streamingData() { data.append(piece) }
    #expect(sha256(of: data) == payload.sha256)
  }

  @Test("a stream that breaks off throws")
  func broken() async throws {
    let server = try LoopbackServer(.file(size: 100_000).dropping(after: 50_000))
    let request = Session().streamRequest(try RequestURL(server.url("/")))
    var count = 0
    await #expect(throws: TransferError.self) {
      for try await piece in request.streamingData() { count += piece.count }
    }
    #expect(count <= 50_000)
  }

  @Test("leaving the loop over a stream closes its connection")
  func leaving() async throws {
    let server = try LoopbackServer(.file(size: 1 << 30))
    do {
      let request = Session().streamRequest(try RequestURL(server.url("/")))
      for try await _ in request.streamingData() { break }
    }
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("an unread stream stops the server from sending, and no byte is lost")
  func backPressure() async throws {
    let payload = Payload(size: 200 << 20)
    let small = Payload(size: 30 << 20)
    let server = try LoopbackServer(files: ["/stream": .file(payload), "/small": .file(small)])
    let session = Session()
    let request = session.streamRequest(try RequestURL(server.url("/stream")))
    #expect(try await request.responseHead().status == 200)
    // A transfer in the same loop gives the stream enough time to continue, if it did not stop.
    let fixture = try DownloadFixture(session)
    #expect(try await fixture.download(server, "/small").response().isSuccess)
    #expect(server.counters.bodyBytesSent - small.size < 32 << 20)
    var count: Int64 = 0
    for try await piece in request.streamingData() {
      count += Int64(piece.count)
      #expect(piece.count <= 2 * StreamChannel.highWater)
    }
    #expect(count == payload.size)
  }

  @Test("a session with a Unix socket path does not look up the URL's host")
  func unixSocket() async throws {
    let directory = try TemporaryDirectory()
    let socket = directory.path("nginx.sock")
    let nginx = try await Nginx(.init(directives: "listen unix:\(socket);"))
    try Data("hello".utf8).write(to: URL(fileURLWithPath: nginx.root + "/a.txt"))
    var configuration = SessionConfiguration()
    configuration.unixSocketPath = socket
    let response = await Session(configuration: configuration).request(try RequestURL("http://anything.invalid/a.txt"))
      .response()
    #expect(response.error == nil)
    #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "hello")
  }
}
