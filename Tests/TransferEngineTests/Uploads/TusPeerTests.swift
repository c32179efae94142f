import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Uploads to tuspyserver, a server of another project.
@Suite(.timeLimit(.minutes(5))) struct TusPeerTests {
  /// The digests of the server's files. The server deletes partial uploads after it has combined them.
  private func digests(_ peer: PythonPeer) throws -> [String] {
    try peer.directory.names(in: "uploads").filter { !$0.contains(".") }
      .map { try sha256(ofFile: peer.directory.path("uploads/" + $0)) }
  }

  @Test("every size arrives byte for byte")
  func sizes() async throws {
    let peer = try await PythonPeer.tus()
    for size in [0, 1, 5 << 20 - 1, 5 << 20 + 1, 8 << 20 - 1, 16 << 20 + 1] as [Int64] {
      let fixture = try UploadFixture(size: size, seed: UInt64(size) + 1)
      let response = await fixture.send(try fixture.upload(to: peer.url("/files/"), by: .automatic))
      #expect(word(response.error) == "success", "\(size)")
      #expect(try digests(peer).contains(fixture.payload.sha256), "\(size)")
    }
  }

  @Test("an upload that is interrupted ten times sends again only bytes that were not acknowledged")
  func kills() async throws {
    let peer = try await PythonPeer.tus()
    let fixture = try UploadFixture(size: 64 << 20)
    let upload = try fixture.upload(to: peer.url("/files/"), by: .tus(TusOptions()), limitRate: 4 << 20)
    var fast = upload
    fast.request.limitRate = nil
    let journal = UploadRecorder()
    var sent: Int64 = 0
    for number in 0..<10 {
      // Each attempt has its own session and gets only the journal record of the previous attempt.
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
    let last = await fixture.send(fast, resumingWith: journal.last, interceptor: .soon)
    #expect(word(last.error) == "success")
    #expect(try digests(peer) == [fixture.payload.sha256])
    // Bytes in the socket buffers are lost when the connection is closed; these are some MiB on loopback.
    #expect(sent + last.bytesSent < fixture.payload.size + 10 * 8 << 20)
  }

  @Test("parallel parts are combined, also after an interruption")
  func parallel() async throws {
    let peer = try await PythonPeer.tus()
    let fixture = try UploadFixture(size: 96 << 20 + 1)
    let upload = try fixture.upload(to: peer.url("/files/"), by: .tus(TusOptions(parallelParts: 3)))
    let journal = UploadRecorder()
    let reached = Gate()
    let request = fixture.session.upload(upload, journal: journal)
    // The server is paused, so that it cannot have the whole file before the cancel.
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
    #expect(try digests(peer).contains(fixture.payload.sha256))
    #expect(last.bytesAcknowledged == fixture.payload.size)
    // The last record is enough: the next attempt sends no file data.
    let again = await fixture.send(upload, resumingWith: journal.last)
    #expect(again.isSuccess)
    #expect(again.bytesSent == 0)
  }

  @Test("a sparse file of 1 GiB arrives")
  func sparse() async throws {
    let peer = try await PythonPeer.tus()
    let fixture = try UploadFixture(size: 1 << 20)
    #expect(truncate(fixture.path, 1 << 30) == 0)
    let response = await fixture.send(try fixture.upload(to: peer.url("/files/"), by: .tus(TusOptions())))
    #expect(word(response.error) == "success")
    #expect(try digests(peer) == [sha256(ofFile: fixture.path)])
  }
}
