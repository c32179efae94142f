import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Against tuspyserver, which somebody else wrote.
@Suite(.timeLimit(.minutes(5)), .serialized) struct TusPeerTests {
  /// The digests of what the server holds, by name; partial uploads that were put together are gone there.
  private func digests(_ peer: PythonPeer) throws -> [String] {
    try peer.directory.names(in: "uploads").filter { !$0.contains(".") }
      .map { try sha256(ofFile: peer.directory.path("uploads/" + $0)) }
  }

  @Test("every size arrives byte for byte")
  func sizes() async throws {
    let peer = try await PythonPeer.tus()
    for size in [0, 1, 5 << 20 - 1, 5 << 20 + 1, 8 << 20 - 1, 16 << 20 + 1] as [Int64] {
      let room = try UploadRoom(size: size, seed: UInt64(size) + 1)
      let response = await room.send(try room.upload(to: peer.url("/files/"), by: .automatic))
      #expect(word(response.error) == "success", "\(size)")
      #expect(try digests(peer).contains(room.payload.sha256), "\(size)")
    }
  }

  @Test("killed ten times, it ends well, and sends again only what was not acknowledged")
  func kills() async throws {
    let peer = try await PythonPeer.tus()
    let room = try UploadRoom(size: 64 << 20)
    let upload = try room.upload(to: peer.url("/files/"), by: .tus(TusOptions()), limitRate: 4 << 20)
    var fast = upload
    fast.request.limitRate = nil
    let journal = UploadRecorder()
    var sent: Int64 = 0
    for number in 0..<10 {
      // A session of its own: nothing but the record is left of the one before.
      let session = Session()
      let reached = Gate()
      let request = session.upload(
        upload, resumingWith: journal.last?.encoded(), journal: journal, interceptor: .soon)
      request.uploadProgress { if $0.sent - $0.acknowledged > Int64(number) << 19 { reached.open() } }
      request.resume()
      try await reached.wait()
      request.cancel()
      sent += await request.response().bytesSent
    }
    let last = await room.send(fast, resumingWith: journal.last, interceptor: .soon)
    #expect(word(last.error) == "success")
    #expect(try digests(peer) == [room.payload.sha256])
    // What is in the sockets' buffers when the connection is cut is lost; that is some MiB on a loopback.
    #expect(sent + last.bytesSent < room.payload.size + 10 * 8 << 20)
  }

  @Test("parts at once are put together, also after a break")
  func parallel() async throws {
    let peer = try await PythonPeer.tus()
    let room = try UploadRoom(size: 96 << 20 + 1)
    let upload = try room.upload(to: peer.url("/files/"), by: .tus(TusOptions(parallelParts: 3)))
    let journal = UploadRecorder()
    let reached = Gate()
    let request = room.session.upload(upload, journal: journal)
    // The server stands still meanwhile, so that it cannot have all of it before the end is told.
    request.uploadProgress {
      guard $0.sent > 40 << 20, !reached.isOpen else { return }
      peer.freeze(true)
      reached.open()
    }
    request.resume()
    try await reached.wait()
    request.cancel()
    _ = await request.response()
    peer.freeze(false)
    #expect(journal.steps.count == 3)
    let last = await Session().upload(
      upload, resumingWith: journal.last?.encoded(), journal: journal, interceptor: .soon
    ).response()
    #expect(word(last.error) == "success")
    #expect(try digests(peer).contains(room.payload.sha256))
    #expect(last.bytesAcknowledged == room.payload.size)
    // The record of the end is enough: the next one asks and sends nothing.
    let again = await room.send(upload, resumingWith: journal.last)
    #expect(again.isSuccess)
    #expect(again.bytesSent == 0)
  }

  @Test("1 GiB, most of it a hole")
  func sparse() async throws {
    let peer = try await PythonPeer.tus()
    let room = try UploadRoom(size: 1 << 20)
    #expect(truncate(room.path, 1 << 30) == 0)
    let response = await room.send(try room.upload(to: peer.url("/files/"), by: .tus(TusOptions())))
    #expect(word(response.error) == "success")
    #expect(try digests(peer) == [sha256(ofFile: room.path)])
  }
}
