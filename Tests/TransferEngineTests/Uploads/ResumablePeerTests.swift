import Foundation
import ResumableServer
import TestSupport
import Testing

@testable import TransferEngine

/// Uploads to NIOResumableUpload, a server of another project. It supports and announces the versions 3, 5 and 6.
@Suite(.timeLimit(.minutes(5))) struct ResumablePeerTests {
  private struct Peer {
    let directory: TemporaryDirectory
    let server: ResumableServer

    init() async throws {
      directory = try TemporaryDirectory()
      server = try await ResumableServer(keepingIn: directory.path)
    }

    func digest(_ name: String) throws -> String { try sha256(ofFile: directory.path(name)) }
  }

  @Test(
    "files of each size arrive in each protocol version, also if the server's version is older",
    arguments: [3, 5, 6, 8])
  func sizes(version: Int) async throws {
    let peer = try await Peer()
    for size in [0, 1, 5 << 20 - 1, 8 << 20 + 1] as [Int64] {
      let fixture = try UploadFixture(size: size, seed: UInt64(size) + 1)
      var upload = try fixture.upload(to: peer.server.url("/in/\(size)"), by: .resumable)
      upload.interopVersion = version
      let response = await fixture.send(upload)
      #expect(word(response.error) == "success", "\(size): \(String(describing: response.error))")
      #expect(try peer.digest("\(size)") == fixture.payload.sha256, "\(size)")
      #expect(response.ledger == nil)
    }
    try await peer.server.stop()
  }

  @Test("an upload that is interrupted five times continues at the server's offset")
  func kills() async throws {
    let peer = try await Peer()
    let fixture = try UploadFixture(size: 48 << 20 + 3)
    // The limit is so low that even the last attempt is cancelled before it completes.
    var upload = try fixture.upload(to: peer.server.url("/k"), by: .resumable, limitRate: 2 << 20)
    let journal = UploadRecorder()
    for number in 1...5 {
      let reached = Gate()
      let request = Session().upload(
        upload, resumingWith: journal.last?.encoded(), journal: journal, interceptor: .soon)
      request.uploadProgress { if $0.sent >= Int64(number) << 20 { reached.open() } }
      request.resume()
      try await reached.wait()
      request.cancel()
      _ = await request.response()
    }
    upload.request.limitRate = nil
    let last = await fixture.send(upload, resumingWith: journal.last, interceptor: .soon)
    #expect(word(last.error) == "success", "\(String(describing: last.error))")
    #expect(last.resumedFrom > 0)
    #expect(try peer.digest("k") == fixture.payload.sha256)
    // Bytes in the socket buffers are lost when the connection is closed; these are some MiB on loopback.
    #expect(peer.server.bytesReceived < fixture.payload.size + 5 * 8 << 20)
    try await peer.server.stop()
  }

  @Test("after an abandon the next upload starts from the beginning")
  func abandoned() async throws {
    let peer = try await Peer()
    let fixture = try UploadFixture(size: 16 << 20)
    let upload = try fixture.upload(to: peer.server.url("/a"), by: .resumable, limitRate: 1 << 20)
    let journal = UploadRecorder()
    let reached = Gate()
    let request = fixture.session.upload(upload, journal: journal)
    request.uploadProgress { if $0.sent >= 1 << 20 { reached.open() } }
    request.resume()
    try await reached.wait()
    request.cancel()
    let ledger = try #require(await request.response().ledger)
    for _ in 0..<2 { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
    // A new upload is created, because the old one is deleted.
    var fast = upload
    fast.request.limitRate = nil
    let again = await fixture.send(fast, resumingWith: ledger)
    #expect(word(again.error) == "success" && again.resumedFrom == 0)
    #expect(try peer.digest("a") == fixture.payload.sha256)
    try await peer.server.stop()
  }
}
