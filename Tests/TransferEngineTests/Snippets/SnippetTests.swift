import Foundation
import HTTPTypes
import TestSupport
import Testing
import TransferEngine

/// Runs the code of the documentation against servers on loopback.
@Suite(.timeLimit(.minutes(5))) struct SnippetTests {
  @Test("a session sends a request and decodes the response")
  func decodable() async throws {
    let repos = [Snippets.Repo(name: "swift"), Snippets.Repo(name: "swift-nio")]
    let json = try JSONEncoder().encode(repos)
    let server = try LoopbackServer { request in
      request.query == "q=swift"
        ? .response(200, headers: ["Content-Type": "application/json"], body: json) : .response(400)
    }
    #expect(try await Snippets.decodable(Snippets.session(), server.url("/api")) == repos)
  }

  @Test("a download creates its directory and replaces an existing file")
  func download() async throws {
    let payload = Payload(size: 200_000)
    let server = try LoopbackServer(.file(payload))
    let directory = try TemporaryDirectory()
    let path = directory.path("new/a.iso")
    for _ in 0..<2 {
      #expect(try await Snippets.download(Session(), server.url("/a.iso"), path) == path)
    }
    #expect(try sha256(ofFile: path) == payload.sha256)
  }

  @Test("a form is uploaded, a stream is read, and progress is reported")
  func bodies() async throws {
    let payload = Payload(size: 300_000)
    let directory = try TemporaryDirectory()
    try payload.write(to: directory.path("a.bin"))
    let taker = try LoopbackServer { request in .response(200, text: "\(request.bodyLength > 300_000)") }
    #expect(try await Snippets.form(Session(), taker.url("/"), URL(fileURLWithPath: directory.path("a.bin"))) == "true")
    let server = try LoopbackServer(.file(payload))
    #expect(try await Snippets.stream(Session(), server.url("/")) == 300_000)
    let destination = try DownloadDestination(path: directory.path("b.bin"))
    #expect(await Snippets.progress(Session(), server.url("/"), destination) == 1)
  }

  @Test("another session resumes a cancelled download")
  func cancelAndResume() async throws {
    let payload = Payload(size: 4 << 20)
    let server = try LoopbackServer(.file(payload).interrupting(after: 2 << 20, on: .first(1), with: .stall))
    let directory = try TemporaryDirectory()
    let path = directory.path("a.iso")
    let arrived = Watched<Int64>(0)
    let download = Session().download(server.url("/a.iso"), to: try DownloadDestination(path: path))
      .downloadProgress { progress in arrived.mutate { $0 = progress.completed } }.resume()
    try await arrived.wait(for: "2 MiB") { $0 >= 2 << 20 ? () : nil }
    let data = try #require(await Snippets.cancel(download))
    #expect(try await Snippets.resume(Session(), data) == path)
    #expect(try sha256(ofFile: path) == payload.sha256)
    #expect(server.requests.last?.range != nil)
  }

  @Test("a failed download is resumed")
  func failed() async throws {
    let payload = Payload(size: 4 << 20)
    let server = try LoopbackServer(.file(payload).dropping(after: 2 << 20, on: .first(1)))
    let directory = try TemporaryDirectory()
    let destination = try DownloadDestination(path: directory.path("a.iso"))
    let response = await Snippets.failed(Session(), server.url("/a.iso"), destination)
    #expect(response.error == nil && response.resumedFrom > 0)
    #expect(try sha256(ofFile: directory.path("a.iso")) == payload.sha256)
  }

  @Test("an interrupted upload resumes from what the server has")
  func uploads() async throws {
    let payload = Payload(size: 8 << 20)
    let directory = try TemporaryDirectory()
    try payload.write(to: directory.path("a.bin"))
    let peer = try await PythonPeer.tus()
    let upload = FileUpload(
      request: TransferRequest(url: try RequestURL(peer.url("/files/")), limitRate: 4 << 20),
      source: directory.path("a.bin"), protocol: .tus(TusOptions(chunkSize: 1 << 20)))
    let request = Session().upload(upload)
    let arrived = Gate()
    // The server is paused, so that it cannot have the whole file before the cancel.
    request.uploadProgress { progress in
      guard progress.acknowledged >= 2 << 20, !arrived.isOpen else { return }
      peer.freeze(true)
      arrived.open()
    }.resume()
    try await arrived.wait()
    request.cancel()
    let response = await request.response()
    peer.freeze(false)
    let ledger = try #require(response.ledger?.encoded())
    #expect(try await Snippets.resumeUpload(Session(interceptor: RetryPolicy.soon), upload, ledger) >= 2 << 20)
    try await Snippets.upload(Session(), peer.url("/files/"), directory.path("a.bin")) { _ in
      Issue.record("a ledger of a success")
    }
  }

  @Test("errors say what happened and whether a retry may help")
  func errors() async throws {
    let server = try LoopbackServer { request in .response(request.path == "/none" ? 404 : 200, text: "here") }
    #expect(await Snippets.errors(Session(), server.url("/")) == "here")
    #expect(await Snippets.errors(Session(), server.url("/none")) == "not found")
    let closed = try ClosedPort()
    #expect(await Snippets.errors(Session(), "http://127.0.0.1:\(closed.number)/").hasPrefix("cannot reach the server"))
    #expect(await Snippets.errors(Session(), "gopher://127.0.0.1/").contains("not worth retrying"))
  }

  @Test("a policy and a custom retrier retry", arguments: [true, false])
  func retries(_ hasPolicy: Bool) async throws {
    let server = try LoopbackServer(.file(size: 100).failing(503, on: .first(2)))
    let session = hasPolicy ? Snippets.policy() : Snippets.retrier()
    #expect(try await session.request(server.url("/")).validate().serializingData().value.count == 100)
    #expect(server.requests.count == 3)
  }

  @Test("an adapter adds the current token")
  func adapter() async throws {
    let server = try LoopbackServer { request in .response(200, text: request.headers["Authorization"] ?? "none") }
    let session = Snippets.adapter { "t-1" }
    #expect(try await session.request(server.url("/")).serializingString().value == "Bearer t-1")
  }
}
