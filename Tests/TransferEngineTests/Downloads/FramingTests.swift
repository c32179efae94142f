import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct FramingTests {
  static let payload = Payload(size: 500_000)
  private static let file = FileBehaviour.file(payload)

  @Test("a chunked body and a body that ends with the connection are accepted as complete")
  func otherFramings() async throws {
    for (behaviour, verification) in [
      (Self.file.chunked(), .length), (Self.file.withoutContentLength(on: .first(1)), .length),
      // HEAD gives no length either: the file is accepted without verification.
      (Self.file.withoutContentLength(), .none), (Self.file.withoutContentLength().refusingHead(), .none),
      (Self.file.withoutContentLength().refusingHead(403), .none),
    ] as [(FileBehaviour, DownloadVerification)] {
      let server = try LoopbackServer(behaviour)
      let fixture = try DownloadFixture()
      let response = try await fixture.download(server).response()
      #expect(response.error == nil)
      #expect(response.verification == verification)
      try fixture.expectOnly(Self.payload)
    }
  }

  @Test("a truncated body is detected by Content-Length, by chunks, or by a HEAD request")
  func cutShort() async throws {
    for behaviour in [
      Self.file.withoutContentLength(endingAfter: 123_456, on: .first(1)),
      Self.file.chunked(on: .first(1)).dropping(after: 123_456),
      Self.file.dropping(after: 123_456),
    ] {
      let server = try LoopbackServer(behaviour)
      let fixture = try DownloadFixture()
      let first = try await fixture.download(server).response()
      guard case .response(.truncated(123_456, _))? = first.error else {
        Issue.record("\(String(describing: first.error))")
        continue
      }
      #expect(first.error?.isTransient == true)
      try fixture.expectPart(first.resumeData, holds: 123_456, of: Self.payload)
      let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
      #expect(second.isSuccess)
      #expect(second.resumedFrom == 123_456)
      try fixture.expectOnly(Self.payload)
    }
  }

  /// RFC 9112 §9.8: without the notice, such a body is incomplete. To libcurl it is complete.
  @Test("a body that ends with its TLS connection needs the notice of that, the length by HEAD, or a digest")
  func endOfTLS() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let session = Session(configuration: configuration)
    let digest = ExpectedDigest(algorithm: .sha256, hex: Self.payload.sha256)
    for (target, digests, verification) in [
      ("/a", [], DownloadVerification.none), ("/b?notice=0&head=500000", [], .length),
      ("/c?notice=0", [digest], .digest), ("/d?notice=0", [], nil),
    ] as [(String, [ExpectedDigest], DownloadVerification?)] {
      let fixture = try DownloadFixture(session)
      var request = TransferRequest(url: try RequestURL(server.url(target)))
      request.connection.maximumHTTPVersion = .http1_1
      let response = try await fixture.download(request, expecting: digests).response()
      #expect(response.verification == verification, "\(target): \(String(describing: response.error))")
      if verification != nil {
        try fixture.expectOnly(Self.payload)
        continue
      }
      guard case .response(.truncated(500_000, nil))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(response.error?.isTransient == true)
    }
  }

  /// libcurl treats a line that begins with CR as the end of the head, and passes on the next bytes as a body.
  @Test("a body that arrives before the end of the head is not written to the part file")
  func bodyWithoutHead() async throws {
    let file = Self.file.dropping(after: 123_456, on: .first(1)).handler()
    let server = try LoopbackServer { request in
      guard request.index == 1 else { return file(request) }
      return [.raw(Data("HTTP/1.1 200 OK\r\n\rX\nnot the file".utf8)), .close]
    }
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.error != nil)
    try fixture.expectPart(second.resumeData, holds: 123_456, of: Self.payload)
    let third = try await fixture.download(server, resumingWith: second.resumeData?.encoded()).response()
    #expect(third.isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  @Test(
    "an invalid Content-Length is a permanent error, and no byte is stored",
    arguments: [
      ["500000", "100"], ["100", "500000"], ["-1"], ["99999999999999999999"], ["abc"], ["5 00000"], ["1e5"], ["0x10"],
    ])
  func lengths(_ values: [String]) async throws {
    let server = try LoopbackServer(Self.file.contentLengths(values))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    #expect(response.error?.isTransient == false, "\(String(describing: response.error))")
    #expect(try fixture.names() == [])
  }

  @Test("two equal Content-Length fields are accepted")
  func sameTwice() async throws {
    let server = try LoopbackServer(Self.file.contentLengths(["500000", "500000"]))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a Content-Length larger than any disk is reported as a full disk")
  func enormous() async throws {
    let server = try LoopbackServer(Self.file.contentLengths(["9223372036854775807"]))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .file(.diskFull)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try fixture.names() == [])
  }

  // libcurl decides whether to reuse the connection: 7.88 does if the extra bytes come in a later packet.
  @Test("bytes beyond Content-Length are not kept")
  func trailingGarbage() async throws {
    let server = try LoopbackServer(Self.file.trailingGarbage(Data("HTTP/1.1 200 OK\r\n\r\ngarbage".utf8)))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  /// Each file would get the content of the one before.
  @Test("a second response to one request is not taken for the response to the next one")
  func unaskedResponse() async throws {
    let (hasEnded, isSent) = (Gate(), Gate())
    let unasked = Data("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked".utf8)
    let server = try LoopbackServer { request in
      guard request.index == 0 else { return .response(200, text: request.target) }
      return [
        .status(200, headers: ["Content-Length": "2"]), .body(Data("/a".utf8)), .waitFor(hasEnded), .raw(unasked),
        .signal(isSent), .keepAlive,
      ]
    }
    let session = Session()
    #expect(await session.request(try RequestURL(server.url("/a"))).response().text == "/a")
    hasEnded.open()
    try await isSent.wait()
    for target in ["/b", "/c"] {
      let response = await session.request(try RequestURL(server.url(target))).response()
      #expect(response.text == target)
      #expect(response.metrics.last?.isConnectionReused == (target == "/c"))
    }
    #expect(server.requests.map(\.connection) == [0, 1, 1])
  }

  @Test("interim responses are skipped", arguments: [100, 102, 103])
  func interim(_ status: Int) async throws {
    let server = try LoopbackServer(Self.file.interim(status, times: 100, headers: ["Link": "</x>", "ETag": "\"no\""]))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  @Test("an endless head, a large head and a flood of interim responses are permanent errors")
  func tooLarge() async throws {
    for behaviour in [Self.file.endlessHeaders(), Self.file.hugeHeader(), Self.file.interim(times: 5000)] {
      let server = try LoopbackServer(behaviour)
      let fixture = try DownloadFixture()
      let response = try await fixture.download(server).response()
      guard case .response(.headTooLarge)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(try fixture.names() == [])
    }
  }

  @Test("a response with 1,000 cookies is accepted, and no cookie is sent back")
  func cookies() async throws {
    let server = try LoopbackServer(Self.file.cookies(1000))
    let session = Session()
    for _ in 0..<2 {
      let fixture = try DownloadFixture(session)
      #expect(try await fixture.download(server).response().isSuccess)
    }
    #expect(server.requests.allSatisfy { $0.headers["Cookie"] == nil })
  }

  // MARK: Content codings

  @Test("gzip that was not requested is decoded")
  func gzip() async throws {
    let server = try LoopbackServer(Self.file.gzipped())
    let fixture = try DownloadFixture()
    let digest = ExpectedDigest(algorithm: .sha256, hex: Self.payload.sha256)
    let response = try await fixture.download(server, expecting: [digest]).response()
    #expect(response.error == nil)
    #expect(response.verification == .digest)
    try fixture.expectOnly(Self.payload)
    #expect(server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
  }

  @Test("gzip with a wrong checksum or trailing garbage is not a file", arguments: [true, false])
  func badGzip(_ isChecksum: Bool) async throws {
    let server = try LoopbackServer(Self.file.gzipped(isChecksum ? .wrongChecksum : .trailingGarbage))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .response(.undecodable)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.resumeData == nil)
    #expect(try fixture.names() == [])
  }

  @Test("a gzip body whose connection breaks starts over")
  func cutGzip() async throws {
    let server = try LoopbackServer(Self.file.gzipped().dropping(after: 200_000, on: .first(2)))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, interceptor: .atOnce(3)).response().isSuccess)
    #expect(server.requests.allSatisfy { $0.range == nil })
    try fixture.expectOnly(Self.payload)
  }

  @Test(
    "an archive is stored without decoding, even if Content-Encoding is gzip",
    arguments: ["/a.tar.gz", "/a.TGZ", "/x.gz"])
  func archive(_ target: String) async throws {
    let archive = Payload(TestSupport.gzip(Self.payload.data))
    let server = try LoopbackServer(.file(archive).header("Content-Encoding", "gzip"))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, target).response().isSuccess)
    try fixture.expectOnly(archive)
    #expect(server.requests.count == 1)
  }

  @Test("a body with an unknown coding is stored as it arrives")
  func unknownCoding() async throws {
    let server = try LoopbackServer(Self.file.header("Content-Encoding", "aes128gcm"))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }
}
