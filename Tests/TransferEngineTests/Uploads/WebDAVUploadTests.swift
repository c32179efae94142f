import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct WebDAVUploadTests {
  private static func nginx() async throws -> Nginx {
    try await Nginx(.init(directives: "dav_methods PUT DELETE MKCOL MOVE;"))
  }

  @Test("nginx: files of each size arrive, collections are created, and no temporary file is left")
  func nginx() async throws {
    let nginx = try await Self.nginx()
    for size in [0, 1, 5 << 20 + 1, 8 << 20 - 1] as [Int64] {
      let fixture = try UploadFixture(size: size)
      let response = await fixture.send(try fixture.upload(to: nginx.url("/a/b%20c/d/\(size).bin"), by: .webDAV))
      #expect(word(response.error) == "success", "\(size)")
      #expect(response.ledger == nil)
      #expect(try sha256(ofFile: nginx.root + "/a/b c/d/\(size).bin") == fixture.payload.sha256)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: nginx.root + "/a/b c/d").count == 4)
  }

  @Test("an existing file is replaced, or kept with onlyIfAbsent")
  func existing() async throws {
    let nginx = try await Self.nginx()
    let old = try UploadFixture(size: 100, seed: 1)
    let new = try UploadFixture(size: 200, seed: 2)
    #expect(await old.send(try old.upload(to: nginx.url("/x"), by: .webDAV)).isSuccess)
    let refused = await new.send(try new.upload(to: nginx.url("/x"), by: .webDAV, onlyIfAbsent: true))
    #expect(word(refused.error) == "status 412")
    #expect(refused.ledger == nil)
    #expect(try sha256(ofFile: nginx.root + "/x") == old.payload.sha256)
    #expect(await new.send(try new.upload(to: nginx.url("/x"), by: .webDAV)).isSuccess)
    #expect(try sha256(ofFile: nginx.root + "/x") == new.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: nginx.root) == ["x"])
  }

  @Test("wsgidav: a file arrives, and a locked file causes a transient error")
  func wsgidav() async throws {
    let peer = try await PythonPeer.webDAV()
    let fixture = try UploadFixture(size: 3 << 20)
    let upload = try fixture.upload(to: peer.url("/new/one/file.bin"), by: .webDAV)
    let response = await fixture.send(upload)
    #expect(word(response.error) == "success", "\(String(describing: response.error)) \(peer.log)")
    #expect(try sha256(ofFile: peer.directory.path("www/new/one/file.bin")) == fixture.payload.sha256)
    let lock = """
      <?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>
      <D:locktype><D:write/></D:locktype></D:lockinfo>
      """
    var request = TransferRequest(url: upload.request.url, method: HTTPRequest.Method("LOCK")!)
    request.headers[.contentType] = "application/xml"
    request.body = .data(Data(lock.utf8))
    let locked = await fixture.session.request(request).response()
    #expect(locked.head?.status == 200)
    let waiting = await fixture.send(upload)
    #expect(word(waiting.error) == "status 423")
    #expect(waiting.error?.isTransient == true)
    try await fixture.session.abandon(upload, ledger: #require(waiting.ledger).encoded())
    #expect(try peer.directory.names(in: "www/new/one") == ["file.bin"])
  }

  @Test("a kill before the rename causes no second upload, and abandon deletes the temporary file")
  func kill() async throws {
    let nginx = try await Self.nginx()
    let fixture = try UploadFixture(size: 3 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in .response(500) }
    _ = server
    let upload = try fixture.upload(to: nginx.url("/k.bin"), by: .webDAV)
    let name = try TemporaryName(for: upload.request.url, source: SourceIdentity(path: fixture.path))
    let ledger = UploadLedger(
      source: try SourceIdentity(path: fixture.path), target: upload.request.url.ledgerTarget,
      progress: .temporary(path: name.path))
    try fixture.payload.write(to: nginx.root + name.path)
    let response = await fixture.send(upload, resumingWith: ledger)
    #expect(word(response.error) == "success")
    #expect(response.bytesSent == 0)
    #expect(try sha256(ofFile: nginx.root + "/k.bin") == fixture.payload.sha256)
    try Payload(size: 10).write(to: nginx.root + name.path)
    for _ in 0..<2 { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: nginx.root) == ["k.bin"])
    try Payload(size: 10).write(to: nginx.root + name.path)
    #expect(word(await fixture.send(upload, resumingWith: ledger).error) == "success")
    #expect(try sha256(ofFile: nginx.root + "/k.bin") == fixture.payload.sha256)
  }

  @Test("onlyIfAbsent completes an upload whose MOVE had no response")
  func lostResponse() async throws {
    let peer = try await PythonPeer.webDAV()
    let fixture = try UploadFixture(size: 1000)
    var upload = try fixture.upload(to: peer.url("/a"), by: .webDAV)
    upload.onlyIfAbsent = true
    let journal = UploadRecorder()
    #expect(word(await fixture.send(upload, journal: journal).error) == "success")
    let ledger = try #require(journal.last)
    let again = await fixture.send(upload, resumingWith: ledger)
    #expect(word(again.error) == "success")
    #expect(again.bytesSent == 0)
    #expect(try sha256(ofFile: peer.directory.path("www/a")) == fixture.payload.sha256)
    #expect(word(await fixture.send(upload).error) == "status 412")
  }

  @Test("an incomplete temporary file is deleted before the file is sent again: the server may still write into it")
  func incomplete() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer {
      switch $0.method {
      case "HEAD": [.status(200, headers: ["Content-Length": "10"]), .keepAlive]
      case "DELETE": .response(204)
      default: .response(201)
      }
    }
    let upload = try fixture.upload(to: server.url("/a"), by: .webDAV)
    let source = try SourceIdentity(path: fixture.path)
    let name = try TemporaryName(for: upload.request.url, source: source)
    let ledger = UploadLedger(
      source: source, target: upload.request.url.ledgerTarget, progress: .temporary(path: name.path))
    #expect(word(await fixture.send(upload, resumingWith: ledger).error) == "success")
    #expect(server.requests.map(\.method) == ["HEAD", "DELETE", "PUT", "MOVE"])
    #expect(server.requests.prefix(3).allSatisfy { $0.target == name.path })
  }

  @Test("a full server causes a transient error; a server without MOVE is unsupported and keeps no file")
  func faults() async throws {
    let fixture = try UploadFixture(size: 1000)
    let full = try LoopbackServer { _ in .response(507) }
    let refused = await fixture.send(try fixture.upload(to: full.url("/a"), by: .webDAV))
    #expect(word(refused.error) == "status 507")
    #expect(refused.error?.isTransient == true)
    let simple = try LoopbackServer { .response($0.method == "PUT" ? 201 : $0.method == "DELETE" ? 204 : 405) }
    let response = await fixture.send(try fixture.upload(to: simple.url("/a"), by: .webDAV))
    #expect(word(response.error) == "unsupported")
    #expect(response.ledger == nil)
    #expect(simple.requests.map(\.method) == ["PUT", "MOVE", "DELETE"])
    #expect(simple.requests[0].target == simple.requests[2].target)
  }

  @Test("nginx: a plain PUT works for each size, also for a sparse file of 1 GiB")
  func plain() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    for size in [0, 1, 5 << 20 - 1, 16 << 20 + 1] as [Int64] {
      let fixture = try UploadFixture(size: size)
      #expect(
        word(await fixture.send(try fixture.upload(to: nginx.url("/in/\(size)"), by: .automatic)).error) == "success")
      #expect(try sha256(ofFile: nginx.root + "/in/\(size)") == fixture.payload.sha256)
    }
    let fixture = try UploadFixture(size: 1 << 20)
    #expect(truncate(fixture.path, 1 << 30) == 0)
    let response = await fixture.send(try fixture.upload(to: nginx.url("/in/sparse"), verifiesLength: true))
    #expect(word(response.error) == "success")
    #expect(try sha256(ofFile: nginx.root + "/in/sparse") == sha256(ofFile: fixture.path))
  }

  @Test("a temporary name is hidden, beside its target, and never too long")
  func names() throws {
    let identity = SourceIdentity(device: 1, inode: 2, size: 3, modified: 4)
    let name = try TemporaryName(for: try RequestURL("http://h/a/b%20c"), source: identity).path
    #expect(name.hasPrefix("/a/.b%20c."))
    #expect(name.hasSuffix(".part"))
    #expect(try TemporaryName(for: try RequestURL("http://h/a/b%20c"), source: identity).path == name)
    var other = identity
    other.modified = 5
    #expect(try TemporaryName(for: try RequestURL("http://h/a/b%20c"), source: other).path != name)
    let long = try TemporaryName(
      for: try RequestURL("http://h/" + String(repeating: "x", count: 250)), source: identity)
    #expect(long.path.utf8.count < 60)
    #expect(throws: TransferError.self) { try TemporaryName(for: try RequestURL("http://h/a/"), source: identity) }
  }
}
