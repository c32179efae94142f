import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// One file from several servers, each with exact faults.
@Suite(.timeLimit(.minutes(5))) struct MirrorDownloadTests {
  private let payload = Payload(size: 16 << 20)

  // MARK: One after the other

  @Test("the next source is asked when the first one fails", arguments: ["404", "503", "refused", "hangs up"])
  func next(fault: String) async throws {
    let payload = Payload(size: 300_000)
    let own: FileBehaviour =
      switch fault {
      case "404": .file(payload).failing(404)
      case "503": .file(payload).failing(503)
      default: .file(payload).hangingUp(on: .always)
      }
    let fixture = try MirrorFixture([own, .file(payload)])
    let request =
      fault == "refused"
      ? TransferRequest(url: try RequestURL("http://127.0.0.1:\(try ClosedPort().number)/file.bin"))
      : try .of(fixture.servers[0])
    let sources = try fixture.sources(own: request)
    let response = try await fixture.run(sources, request)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports.map(\.state) == [.dropped, .used])
    let reason = try #require(sources.reports[0].reason)
    if let status = Int(fault) { #expect(reason.contains("\(status)")) }
    #expect(sources.reports[1].bytesReceived == payload.size)
  }

  @Test("without a checksum, another source fetches the whole file: bytes of two servers are not mixed")
  func alone() async throws {
    let other = FileBehaviour.file(payload).etag("\"another\"")
    let fixture = try MirrorFixture([.file(payload).dropping(after: 5 << 20, on: .always), other])
    let sources = try fixture.sources()
    let response = try await fixture.run(sources, segmentation: Segmentation(.one))
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[1].bytesReceived == payload.size)
    #expect(response.resumedFrom == 0)
  }

  @Test("a source that dies in the middle is followed by another one, which sends the rest", arguments: [true, false])
  func dies(hasChecksum: Bool) async throws {
    let fixture = try MirrorFixture([
      .file(payload).dropping(after: 5 << 20, on: .always),
      hasChecksum ? .file(payload).etag("\"another\"") : .file(payload),
    ])
    let sources = try fixture.sources()
    let response = try await fixture.run(
      sources, expecting: hasChecksum ? payload.expected : [], segmentation: Segmentation(.one))
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[0].state == .dropped)
    #expect(sources.reports[1].bytesReceived < payload.size)
    #expect(fixture.servers[1].requests.allSatisfy { $0.range != nil })
  }

  @Test("when no source is left, the download fails with the error of the first one, or of the first that may recover")
  func none() async throws {
    for (own, mirror, expected) in [(404, 410, 404), (404, 503, 503), (503, 404, 503)] {
      let fixture = try MirrorFixture([.file(payload).failing(own), .file(payload).failing(mirror)])
      let sources = try fixture.sources()
      let response = try await fixture.run(sources)
      #expect(response.error?.status == expected)
      #expect(sources.reports.allSatisfy { $0.state == .dropped && $0.reason != nil })
    }
  }

  @Test("a source with another length than the known one is dropped before a byte is written")
  func size() async throws {
    let fixture = try MirrorFixture([.file(size: 1000), .file(payload)])
    let sources = try fixture.sources(size: payload.size)
    let response = try await fixture.run(sources)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[0].reason?.contains("1000") ?? false)
  }

  // MARK: Together

  @Test(
    "sources with the same file each fetch a part of it, by the checksum or the same strong ETag",
    arguments: [true, false])
  func together(hasChecksum: Bool) async throws {
    let mirror = hasChecksum ? FileBehaviour.file(payload).etag("\"another\"") : .file(payload)
    let fixture = try MirrorFixture([.file(payload), mirror], holdsFirst: true)
    let sources = try fixture.sources()
    let response = try await fixture.run(sources, expecting: hasChecksum ? payload.expected : [])
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports.map(\.state) == [.used, .used])
    #expect(sources.reports.allSatisfy { $0.bytesReceived > 0 })
  }

  @Test("a mirror whose file has only the same beginning is dropped before it sends a byte of the file")
  func sameBeginning() async throws {
    let isAsked = Gate()
    let fixture = try MirrorFixture([
      .file(payload).holding(after: MirrorFixture.mebibyte, until: isAsked, on: .fresh),
      .file(payload.spoiled(512 << 10..<payload.size)).answering { _, _ in isAsked.open() },
    ])
    let sources = try fixture.sources()
    let response = try await fixture.run(sources, expecting: payload.expected)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[1].state == .dropped)
    #expect(sources.reports[1].bytesReceived == 0)
    #expect(fixture.servers[0].requests.filter { $0.range == nil }.count == 1)
  }

  @Test("what is meant for the own server does not go to a mirror of another origin")
  func secrets() async throws {
    let fixture = try MirrorFixture([.file(payload), .file(payload)], holdsFirst: true)
    var request = try TransferRequest.of(fixture.servers[0])
    request.headers[.cookie] = "session=secret"
    request.headers[.authorization] = "Bearer secret"
    request.headers[.userAgent] = "agent/1"
    request.credentials = Credentials(username: "me", password: "secret")
    let response = try await fixture.run(try fixture.sources(own: request), request)
    #expect(response.error == nil)
    let theirs = fixture.servers[1].requests
    #expect(!theirs.isEmpty)
    for request in theirs {
      #expect(request.headers["Cookie"] == nil && request.headers["Authorization"] == nil)
      #expect(request.headers["User-Agent"] == "agent/1")
    }
    #expect(fixture.servers[0].requests.allSatisfy { $0.headers["Cookie"] == "session=secret" })
  }

  @Test(
    "a mirror that has not the same file is dropped with its reason, and costs nothing but a request",
    arguments: [
      ("404", "404"), ("another length", "bytes, not"), ("other bytes", "differ"), ("no ranges", "no ranges"),
      ("another digest", "declares another"), ("refuses", "refused"),
    ])
  func wrong(fault: String, reason: String) async throws {
    let other = Payload(size: payload.size, seed: 7)
    let mirror: FileBehaviour =
      switch fault {
      case "404": .file(payload).failing(404)
      case "another length": .file(size: payload.size + 1)
      case "other bytes": .file(other)
      case "no ranges": .file(payload).ignoringRange()
      default: .file(other).digest(.reprDigest)
      }
    let fixture = try MirrorFixture([.file(payload), mirror], holdsFirst: true)
    var sources = try fixture.sources()
    if fault == "refuses" {
      let url = try RequestURL("http://127.0.0.1:\(try ClosedPort().number)/file.bin")
      sources = DownloadSources(mirrors: [DownloadSource(request: TransferRequest(url: url))])
    }
    // The first server goes on when the mirror is out.
    sources.observe { [proceed = fixture.proceed] id in if id == 1 { proceed.open() } }
    let response = try await fixture.run(sources, expecting: payload.expected)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    let text = try #require(sources.reports.last?.reason)
    #expect(text.contains(reason), "\(text)")
    #expect(sources.reports[0].bytesReceived >= payload.size)
  }

  // MARK: Wrong bytes

  @Test(
    "a first source with other bytes than its checksum says is dropped, and mirrors that disagreed with it are asked")
  func firstIsWrong() async throws {
    let fixture = try MirrorFixture([.file(Payload(size: payload.size, seed: 7)), .file(payload)])
    let sources = try fixture.sources()
    let response = try await fixture.run(sources, expecting: payload.expected)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[0].state == .dropped && sources.reports[1].state == .used)
    #expect(sources.reports[0].reason?.contains("sha-256") ?? false)
  }

  @Test("if it cannot be told whose bytes were wrong, each source fetches the file alone", arguments: [0, 1])
  func spoiledInTheMiddle(wrong: Int) async throws {
    var behaviours = [FileBehaviour.file(payload), .file(payload)]
    // Both halves of the file: the part that the source sends has some of it.
    let spoiled = payload.spoiled(600_000..<601_000).spoiled(payload.size - 600_000..<payload.size - 500_000)
    behaviours[wrong] = .file(spoiled)
    let fixture = try MirrorFixture(behaviours, holdsFirst: true)
    let sources = try fixture.sources()
    let response = try await fixture.run(sources, expecting: payload.expected)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
  }

  @Test("a wrong piece is fetched again alone, from another source, and the one that sent it is dropped")
  func pieces() async throws {
    let pieces = try payload.pieces(of: 1 << 20)
    // Every piece of the mirror is wrong, except for the bytes that are compared first.
    var spoiled = payload
    for piece in 1..<Int64(pieces.count) {
      spoiled = spoiled.spoiled((piece << 20) + 700_000..<(piece << 20) + 700_100)
    }
    let fixture = try MirrorFixture([.file(payload), .file(spoiled)], holdsFirst: true)
    let sources = try fixture.sources(size: payload.size, pieces: pieces)
    let response = try await fixture.run(sources)
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(response.verification == .digest)
    #expect(sources.reports[1].state == .dropped)
    #expect(sources.reports[1].reason?.contains("wrong bytes") ?? false)
  }

  @Test("a wrong piece of the first source comes from the mirror, without fetching the others again")
  func pieceOfFirst() async throws {
    let pieces = try payload.pieces(of: 1 << 20)
    let fixture = try MirrorFixture([.file(payload.spoiled(3 << 20..<(3 << 20) + 10)), .file(payload)])
    let sources = try fixture.sources(size: payload.size, pieces: pieces)
    let response = try await fixture.run(sources, segmentation: Segmentation(.one))
    #expect(response.error == nil)
    try fixture.download.expectOnly(payload)
    #expect(sources.reports[0].state == .dropped)
    // The piece, and what precedes it for the comparison.
    #expect(sources.reports[1].bytesReceived <= 2 << 20)
  }

  @Test("a single source whose piece is wrong fails the download")
  func pieceOfOnly() async throws {
    let fixture = try MirrorFixture([.file(payload.spoiled(3 << 20..<(3 << 20) + 10))])
    let sources = try fixture.sources(size: payload.size, pieces: try payload.pieces(of: 1 << 20))
    let response = try await fixture.run(sources)
    guard case .verification(.digest)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  // MARK: Servers that name others

  @Test("duplicates that a server names are used if a digest is known")
  func duplicates() async throws {
    let fixture = try MirrorFixture([.file(payload), .file(payload).etag("\"another\"")], holdsFirst: true)
    let link = "<\(fixture.servers[1].url("/file.bin"))>; rel=duplicate; pri=1"
    let own = try MirrorFixture([.file(payload).digest(.reprDigest).header("Link", link)], holdsFirst: true)
    let sources = DownloadSources(describing: { url in
      var request = TransferRequest(url: url)
      request.redirects = .any
      return DownloadSource(request: request)
    })
    var request = try TransferRequest.of(own.servers[0])
    request.redirects = .any
    async let running = own.run(sources, request)
    try await fixture.proceed.wait()
    own.proceed.open()
    let response = try await running
    #expect(response.error == nil)
    try own.download.expectOnly(payload)
    #expect(sources.reports.count == 2)
    #expect(sources.reports[1].bytesReceived > 0)
  }

  // MARK: Resuming

  @Test("another source goes on after a restart, and the record is then its own")
  func resumes() async throws {
    let cut = try MirrorFixture([.file(payload).dropping(after: 6 << 20, on: .always)])
    let first = try await cut.run(DownloadSources(), expecting: payload.expected, segmentation: Segmentation(.one))
    let data = try #require(first.resumeData)
    #expect(data.checkpointBytes == 6 << 20)
    let fixture = try MirrorFixture([.file(payload).failing(404), .file(payload).etag("\"another\"")])
    let sources = try fixture.sources()
    let request = try TransferRequest.of(fixture.servers[0])
    let response = await cut.download.session.download(
      request, to: try DownloadDestination(path: cut.download.path), resumingWith: data.encoded(),
      expecting: payload.expected, segmentation: Segmentation(.one), sources: sources
    ).resume().response()
    #expect(response.error == nil)
    try cut.download.expectOnly(payload)
    #expect(response.resumedFrom == 6 << 20)
    #expect(sources.reports[1].bytesReceived <= payload.size - (6 << 20) + RangeStrategies.overlapBytes)
  }
}
