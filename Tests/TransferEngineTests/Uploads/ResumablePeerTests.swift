import Foundation
import ResumableServer
import TestSupport
import Testing

@testable import TransferEngine

/// Against NIOResumableUpload, which somebody else wrote. It speaks the versions 3, 5 and 6, and says so.
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
    "every size arrives byte for byte, in each version, and in its own where ours is too new", arguments: [3, 5, 6, 8])
  func sizes(version: Int) async throws {
    let peer = try await Peer()
    for size in [0, 1, 5 << 20 - 1, 8 << 20 + 1] as [Int64] {
      let room = try UploadRoom(size: size, seed: UInt64(size) + 1)
      var upload = try room.upload(to: peer.server.url("/in/\(size)"), by: .resumable)
      upload.interopVersion = version
      let response = await room.send(upload)
      #expect(word(response.error) == "success", "\(size): \(String(describing: response.error))")
      #expect(try peer.digest("\(size)") == room.payload.sha256, "\(size)")
      #expect(response.ledger == nil)
    }
    try await peer.server.stop()
  }

  @Test("after five kills the upload continues at the server's offset")
  func kills() async throws {
    let peer = try await Peer()
    let room = try UploadRoom(size: 48 << 20 + 3)
    // Slow enough that the last of them cannot arrive whole before it is told to end.
    var upload = try room.upload(to: peer.server.url("/k"), by: .resumable, limitRate: 2 << 20)
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
    let last = await room.send(upload, resumingWith: journal.last, interceptor: .soon)
    #expect(word(last.error) == "success", "\(String(describing: last.error))")
    #expect(last.resumedFrom > 0)
    #expect(try peer.digest("k") == room.payload.sha256)
    // What is in the sockets' buffers when the connection is cut is lost; that is some MiB on a loopback.
    #expect(peer.server.bytesReceived < room.payload.size + 5 * 8 << 20)
    try await peer.server.stop()
  }

  @Test("abandoned, it is gone from the server")
  func abandoned() async throws {
    let peer = try await Peer()
    let room = try UploadRoom(size: 16 << 20)
    let upload = try room.upload(to: peer.server.url("/a"), by: .resumable, limitRate: 1 << 20)
    let journal = UploadRecorder()
    let reached = Gate()
    let request = room.session.upload(upload, journal: journal)
    request.uploadProgress { if $0.sent >= 1 << 20 { reached.open() } }
    request.resume()
    try await reached.wait()
    request.cancel()
    let ledger = try #require(await request.response().ledger)
    for _ in 0..<2 { try await room.session.abandon(upload, ledger: ledger.encoded()) }
    // What is gone is made anew.
    var fast = upload
    fast.request.limitRate = nil
    let again = await room.send(fast, resumingWith: ledger)
    #expect(word(again.error) == "success" && again.resumedFrom == 0)
    #expect(try peer.digest("a") == room.payload.sha256)
    try await peer.server.stop()
  }
}
