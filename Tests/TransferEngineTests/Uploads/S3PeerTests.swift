import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Uploads to nanio, which verifies signatures, and to moto, which supports checksums, conditions and pages.
@Suite(.timeLimit(.minutes(5))) struct S3PeerTests {
  static let keys = Credentials(username: S3Peer.accessKey, password: S3Peer.secretKey)

  private func upload(_ fixture: UploadFixture, _ peer: PythonPeer, key: String, _ options: S3Options = S3Options())
    throws
    -> FileUpload
  {
    var options = options
    options.endpoint = peer.url("")
    return try fixture.upload(to: "s3://bucket/\(key)", by: .s3(options), credentials: Self.keys)
  }

  private func stored(_ peer: PythonPeer, _ key: String) throws -> String {
    try sha256(ofFile: peer.directory.path("data/bucket/\(key)"))
  }

  @Test("every size arrives byte for byte at a server that verifies signatures")
  func sizes() async throws {
    let peer = try await PythonPeer.nanio()
    for size in [0, 1, 5 << 20 - 1, 16 << 20 - 1, 16 << 20, 24 << 20 + 1] as [Int64] {
      let fixture = try UploadFixture(size: size, seed: UInt64(size) + 1)
      let response = await fixture.send(try upload(fixture, peer, key: "dir/k-\(size)"))
      #expect(word(response.error) == "success", "\(size): \(String(describing: response.error))")
      #expect(try stored(peer, "dir/k-\(size)") == fixture.payload.sha256, "\(size)")
      #expect(response.bytesAcknowledged == size)
    }
    let fixture = try UploadFixture(size: 20 << 20)
    for key in ["a+b", "a%20b", "%C3%A4", "x=1&y", "~tilde"] {
      let response = await fixture.send(try upload(fixture, peer, key: key))
      #expect(word(response.error) == "success", "\(key): \(String(describing: response.error))")
    }
    #expect(try peer.directory.names(in: "data/bucket").contains("a b"))
    // The upload's target is the object's http URL instead of an s3 URL.
    let direct = await fixture.send(
      try fixture.upload(to: peer.url("/bucket/direct"), by: .s3(S3Options()), credentials: Self.keys))
    #expect(word(direct.error) == "success")
    #expect(try stored(peer, "direct") == fixture.payload.sha256)
  }

  @Test("wrong keys and unknown buckets fail the upload with the server's error code")
  func refused() async throws {
    let peer = try await PythonPeer.nanio()
    let fixture = try UploadFixture(size: 1000)
    var wrong = try upload(fixture, peer, key: "k")
    wrong.request.credentials = Credentials(username: S3Peer.accessKey, password: "wrong")
    let response = await fixture.send(wrong, interceptor: .atOnce(2))
    #expect(word(response.error) == "refused SignatureDoesNotMatch")
    #expect(response.error?.status == 403)
    #expect(response.error?.isTransient == false)
    let nowhere = await fixture.send(
      try fixture.upload(
        to: "s3://nowhere/k", by: .s3(S3Options(endpoint: peer.url(""))), credentials: Self.keys))
    #expect(word(nowhere.error) == "refused NoSuchBucket")
    #expect(nowhere.error?.status == 404)
  }

  /// nanio writes two requests for the same part into one file, so wait until the old client's requests have ended.
  private func settle(_ peer: PythonPeer) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      let names = FileManager.default.enumerator(atPath: peer.directory.path)?.allObjects as? [String] ?? []
      if !names.contains(where: { $0.hasSuffix(".tmp") }) { return }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test("an upload that is interrupted ten times sends again only parts that have not arrived")
  func kills() async throws {
    let peer = try await PythonPeer.nanio()
    let fixture = try UploadFixture(size: 96 << 20 + 3)
    // The limit is so low that even the last attempt is cancelled before it completes.
    var upload = try upload(fixture, peer, key: "big", S3Options(partSize: 5 << 20, parallelParts: 3))
    upload.request.limitRate = 32 << 20
    let journal = UploadRecorder()
    var sent: Int64 = 0
    for number in 1...10 {
      let session = Session()
      let reached = Gate()
      let request = session.upload(upload, resumingWith: journal.last?.encoded(), journal: journal)
      request.uploadProgress { if $0.sent >= Int64(number) * 8 << 20 { reached.open() } }
      request.resume()
      try await reached.wait()
      request.cancel()
      sent += await request.response().bytesSent
      try await settle(peer)
    }
    upload.request.limitRate = nil
    let last = await fixture.send(upload, resumingWith: journal.last, journal: journal, interceptor: .atOnce(3))
    #expect(word(last.error) == "success")
    #expect(last.resumedFrom > 0)
    #expect(try stored(peer, "big") == fixture.payload.sha256)
    // At each interruption at most three parts were being sent, and 64 KiB of documents.
    #expect(sent + last.bytesSent <= fixture.payload.size + 10 * 3 * 5 << 20 + 65536)
    #expect(last.ledger == nil)
    // If the response to the last request was lost, the object is found and nothing is sent.
    let again = await fixture.send(upload, resumingWith: journal.last)
    #expect(word(again.error) == "success")
    #expect(again.bytesSent == 0)
  }

  @Test("an abandoned upload leaves no parts")
  func abandon() async throws {
    let peer = try await PythonPeer.nanio()
    let fixture = try UploadFixture(size: 32 << 20)
    let upload = try upload(fixture, peer, key: "gone", S3Options(partSize: 5 << 20))
    let reached = Gate()
    let request = fixture.session.upload(upload)
    // The server is paused, so that it cannot have the whole file before the cancel.
    request.uploadProgress {
      guard $0.acknowledged > 0, !reached.isOpen else { return }
      peer.freeze(true)
      reached.open()
    }
    request.resume()
    try await reached.wait()
    request.cancel()
    let response = await request.response()
    peer.freeze(false)
    let ledger = try #require(response.ledger)
    for _ in 0..<2 { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
    let again = await fixture.send(upload, resumingWith: ledger)
    #expect(again.isSuccess)
    #expect(again.resumedFrom == 0)
  }

  @Test("the server accepts the checksums, and onlyIfAbsent does not replace an object")
  func moto() async throws {
    let peer = try await PythonPeer.moto()
    let fixture = try UploadFixture(size: 17 << 20)
    let session = fixture.session
    let made = await session.request(try RequestURL(peer.url("/bucket")), method: .put).response()
    #expect(made.head?.status == 200)
    for key in ["small", "large"] {
      let fixture = try UploadFixture(size: key == "small" ? 1000 : 17 << 20)
      var upload = try upload(fixture, peer, key: key)
      upload.onlyIfAbsent = true
      let first = await fixture.send(upload)
      #expect(word(first.error) == "success", "\(String(describing: first.error))")
      let get = await session.request(
        try RequestURL(peer.url("/bucket/\(key)")),
        interceptor: AWSSigV4Adapter(
          credentials: AWSCredentials(accessKeyID: "a", secretAccessKey: "b"), region: "us-east-1")
      ).response()
      #expect(get.head?.status == 200, "\(String(decoding: get.data ?? Data(), as: UTF8.self))")
      #expect(sha256(of: get.data ?? Data()) == fixture.payload.sha256)
      let second = await fixture.send(upload)
      #expect(second.error?.status == 412, "\(key): \(word(second.error))")
      #expect(second.error?.isTransient == false)
    }
  }
}
