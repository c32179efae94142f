import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// Downloads with several connections, against servers with exact faults.
@Suite(.timeLimit(.minutes(5))) struct SegmentedDownloadTests {
  private static let mebibyte: Int64 = 1 << 20

  /// The first connection gets the first MiB, and the rest when this many ranges have been requested.
  /// - Parameter holdsRanges: whether the ranges wait for that, too, so that none ends before the last one begins.
  private func server(
    _ behaviour: FileBehaviour, releasing count: Int, holdsRanges: Bool = false
  ) throws -> (LoopbackServer, Gate) {
    let proceed = Gate()
    let requests = Mutex(0)
    var behaviour = behaviour.holding(after: Self.mebibyte, until: proceed, on: .fresh)
    if holdsRanges { behaviour = behaviour.holding(after: 0, until: proceed, on: .ranged) }
    let handler = behaviour.handler()
    let server = try LoopbackServer { request in
      if request.range != nil,
        requests.withLock({ (count: inout Int) in
          count += 1; return count
        }) >= count
      {
        proceed.open()
      }
      return handler(request)
    }
    return (server, proceed)
  }

  @Test("a file is fetched by as many connections as were asked for, each under the strong validator")
  func eight() async throws {
    let payload = Payload(size: 32 << 20)
    let (server, _) = try server(.file(payload), releasing: 7, holdsRanges: true)
    let fixture = try DownloadFixture()
    let request = try fixture.download(.of(server), segmentation: Segmentation(.fixed(8)))
    let response = await request.resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    let ranged = server.requests.filter { $0.range != nil }
    #expect(ranged.count >= 7)
    #expect(ranged.allSatisfy { $0.headers["If-Range"] == "\"\(payload.name)\"" })
    #expect(server.counters.connections >= 8)
    #expect(request.progress.completed == payload.size)
    #expect(response.bytesReceived >= payload.size)
  }

  @Test("where the server announces ranges, all connections begin without waiting for the first one's bytes")
  func announced() async throws {
    let payload = Payload(size: 32 << 20)
    let proceed = Gate()
    let handler = FileBehaviour.file(payload).holding(after: 1000, until: proceed, on: .fresh)
      .holding(after: 0, until: proceed, on: .ranged).handler()
    let count = Mutex(0)
    let server = try LoopbackServer { request in
      if request.range != nil,
        count.withLock({ (count: inout Int) in
          count += 1; return count
        }) == 7
      {
        proceed.open()
      }
      return handler(request)
    }
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(8)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    // An eighth each.
    let starts = Set(server.requests.prefix(8).compactMap { $0.range(of: payload.size)?.lowerBound })
    #expect(starts.isSuperset(of: (1..<8).map { $0 * 4 * Self.mebibyte }))
  }

  @Test(
    "a server that refuses ranges, or sends something else, costs nothing but the attempt: one connection fetches the file",
    arguments: [
      "200", "shifted", "lies about the total", "another version", "no Content-Range", "multipart", "404", "encoded",
      "no validator",
    ], [false, true])
  func refusals(fault: String, isAnnounced: Bool) async throws {
    let payload = Payload(size: 8 << 20)
    let other = Payload(size: 8 << 20, seed: 99)
    var behaviour = FileBehaviour.file(payload)
    behaviour =
      switch fault {
      case "200": behaviour.ignoringRange(on: .ranged)
      case "shifted": behaviour.shiftingRange(by: 4096)
      case "lies about the total": behaviour.claimingTotal((8 << 20) + 1)
      case "another version":
        behaviour.serving(on: .ranged) { file, request in
          file.payload = other
          file.etag = request.headers["If-Range"].map { _ in "\"other\"" }
          file.honoursIfRangeTag = true
        }
        .answering(on: .ranged) { answer, request in
          guard let range = request.range(of: other.size) else { return }
          answer.setPart(range)
          answer.status = 206
        }
      case "no Content-Range": behaviour.withoutContentRange()
      case "multipart": behaviour.multipartRanges()
      case "no validator":
        behaviour.answering(on: .ranged) { answer, _ in
          answer.headers["ETag"] = nil
          answer.headers["Last-Modified"] = nil
        }
      case "404": behaviour.answering(on: .ranged) { answer, _ in answer.replace(404, body: Data("gone".utf8)) }
      default: behaviour.answering(on: .ranged) { answer, _ in answer.headers["Content-Encoding"] = "gzip" }
      }
    if !isAnnounced { behaviour = behaviour.answering { answer, _ in answer.headers["Accept-Ranges"] = nil } }
    let (server, _) = try server(behaviour, releasing: 1)
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 1)
    // Those that began at the same time; none is tried again.
    #expect((1...(isAnnounced ? 3 : 1)).contains(server.requests.filter { $0.range != nil }.count))
  }

  @Test("a server that has enough connections gets no more of them", arguments: [429, 503])
  func overloaded(status: Int) async throws {
    let payload = Payload(size: 16 << 20)
    let proceed = Gate()
    let refused = Mutex(0)
    let handler = FileBehaviour.file(payload).holding(after: Self.mebibyte, until: proceed, on: .fresh).handler()
    let server = try LoopbackServer { request in
      guard request.range != nil else { return handler(request) }
      refused.withLock { $0 += 1 }
      proceed.open()
      return .response(status, text: "later\n")
    }
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(8)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    // Each of the seven may have been on its way; none is tried again.
    #expect(refused.withLock { $0 } <= 8)
  }

  @Test("a connection that breaks loses only what it has not brought; the attempt goes on")
  func broken() async throws {
    let payload = Payload(size: 32 << 20)
    let behaviour = FileBehaviour.file(payload).dropping(
      after: 100_000,
      on: When { request, ordinal in
        request.range != nil && ordinal <= 3
      })
    let (server, _) = try server(behaviour, releasing: 6)
    let fixture = try DownloadFixture()
    var segmentation = Segmentation(.fixed(4))
    segmentation.interval = .milliseconds(50)
    let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 1)
  }

  @Test("if the first connection breaks, the others fetch its rest in the same attempt")
  func leadBreaks() async throws {
    let payload = Payload(size: 16 << 20)
    let proceed = Gate()
    let handler = FileBehaviour.file(payload)
      .holding(after: Self.mebibyte, until: proceed, on: .fresh)
      .dropping(after: Self.mebibyte + 1, on: .fresh)
      .holding(after: 1000, until: proceed, on: .ranged)
      .handler()
    let count = Mutex(0)
    let server = try LoopbackServer { request in
      if request.range != nil,
        count.withLock({ (count: inout Int) in
          count += 1; return count
        }) == 3
      {
        proceed.open()
      }
      return handler(request)
    }
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 1)
  }

  @Test("if the first connection breaks after the others have done their parts, one of them fetches its rest")
  func leadBreaksLast() async throws {
    let payload = Payload(size: 16 << 20)
    let proceed = Gate()
    let server = try LoopbackServer(
      .file(payload).holding(after: 1000, until: proceed, on: .fresh).dropping(after: Self.mebibyte, on: .fresh))
    let fixture = try DownloadFixture()
    let request = try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))
    // What the first connection has left would be there at once, if it had the rate of the others.
    request.downloadProgress { if $0.completed >= payload.size - 4 * Self.mebibyte { proceed.open() } }
    let response = await request.resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 1)
  }

  @Test("without a strong validator only a digest allows several connections")
  func weak() async throws {
    let payload = Payload(size: 16 << 20)
    let behaviour = FileBehaviour.file(payload).serving { file, _ in
      file.etag = "W/\"1\""
      file.lastModified = nil
    }
    let plain = try LoopbackServer(behaviour)
    let fixture = try DownloadFixture()
    let first = await (try fixture.download(.of(plain), segmentation: Segmentation(.fixed(4)))).resume().response()
    #expect(first.error == nil)
    #expect(plain.requests.count == 1)
    let (server, _) = try server(behaviour, releasing: 3)
    let second = try DownloadFixture()
    let digest = ExpectedDigest(algorithm: .sha256, hex: payload.sha256)
    let response = await (try second.download(.of(server), expecting: [digest], segmentation: Segmentation(.fixed(4))))
      .resume().response()
    #expect(response.error == nil)
    #expect(response.verification == .digest)
    #expect(server.requests.filter { $0.range != nil && $0.headers["If-Range"] == nil }.count >= 3)
    try second.expectOnly(payload)
  }

  @Test("parts of two versions that only the digest can tell apart are fetched again by one connection")
  func mixedVersions() async throws {
    let payload = Payload(size: 8 << 20)
    let other = Payload(size: 8 << 20, seed: 99)
    let (server, _) = try server(
      FileBehaviour.file(payload).serving { file, request in
        file.etag = nil
        file.lastModified = nil
        if request.range != nil { file.payload = other }
      }, releasing: 1)
    let fixture = try DownloadFixture()
    let digest = ExpectedDigest(algorithm: .sha256, hex: payload.sha256)
    let response = await (try fixture.download(.of(server), expecting: [digest], segmentation: Segmentation(.fixed(2))))
      .resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 2)
  }

  @Test("when only refusals are left, the attempt ends with a bounded number of requests")
  func onlyRefusals() async throws {
    let payload = Payload(size: 16 << 20)
    let ranged = When { request, ordinal in request.range != nil && ordinal == 1 }
    let proceed = Gate()
    let handler = FileBehaviour.file(payload)
      .holding(after: Self.mebibyte, until: proceed, on: .fresh).dropping(after: Self.mebibyte + 1, on: .fresh)
      .holding(after: 100_000, reached: proceed, until: proceed, on: ranged).dropping(after: 200_000, on: ranged)
      .answering(on: .after(2)) { answer, _ in answer.replace(503, body: Data("later".utf8)) }
      .handler()
    let server = try LoopbackServer(handler)
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(2)))).resume().response()
    #expect(response.error != nil)
    #expect(response.resumeData != nil)
    #expect(server.requests.count < 10, "\(server.requests.count)")
  }

  @Test("a range without a body is a broken connection: it is not asked for without end")
  func emptyRanges() async throws {
    let payload = Payload(size: 8 << 20)
    let proceed = Gate()
    let count = Mutex(0)
    let handler = FileBehaviour.file(payload).holding(after: Self.mebibyte, until: proceed, on: .fresh)
      .answering(on: .ranged) { answer, _ in
        answer.framing = .chunks(isEnded: true)
        answer.range = answer.range.lowerBound..<answer.range.lowerBound
      }
      .handler()
    let server = try LoopbackServer { request in
      if request.range != nil,
        count.withLock({ (count: inout Int) in
          count += 1; return count
        }) >= 5
      {
        proceed.open()
      }
      return handler(request)
    }
    let fixture = try DownloadFixture()
    var segmentation = Segmentation(.fixed(4))
    segmentation.interval = .milliseconds(50)
    let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.count < 20, "\(server.requests.count)")
  }

  @Test("a first connection that stalls does not hold up a file that the others can fetch")
  func stalledLead() async throws {
    let payload = Payload(size: 8 << 20)
    let server = try LoopbackServer(.file(payload).stalling(after: 2 << 20, on: .fresh))
    let fixture = try DownloadFixture()
    var segmentation = Segmentation(.fixed(4))
    segmentation.interval = .milliseconds(200)
    let began = ContinuousClock.now
    let request = try TransferRequest.of(server, stallTimeout: .seconds(120))
    let response = await (try fixture.download(request, segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    #expect(began.duration(to: .now) < .seconds(100))
    try fixture.expectOnly(payload)
  }

  @Test("a small file, and one from a server that says it has no ranges, need one request")
  func alone() async throws {
    let small = try LoopbackServer(.file(size: 900_000))
    let without = try LoopbackServer(.file(size: 16 << 20).ignoringRange())
    for server in [small, without] {
      let fixture = try DownloadFixture()
      let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(8)))).resume()
        .response()
      #expect(response.error == nil)
      #expect(server.requests.count == 1)
    }
  }

  @Test("a slow connection's rest is taken over by a faster one")
  func slowTail() async throws {
    let payload = Payload(size: 8 << 20)
    // The first range crawls and would need hours.
    let server = try LoopbackServer(
      .file(payload).dripping(bytesPerSecond: 1000, after: 1000, on: .at(1)))
    let fixture = try DownloadFixture()
    var segmentation = Segmentation(.fixed(4))
    segmentation.interval = .milliseconds(200)
    let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
  }

  @Test("suspending ends all connections, and resuming goes on where they were")
  func suspends() async throws {
    let payload = Payload(size: 32 << 20)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 16 << 20))
    let fixture = try DownloadFixture()
    let request = try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))
    let isOnce = Mutex(true)
    let isSuspended = Gate()
    request.downloadProgress { [weak request] progress in
      guard progress.completed > 8 << 20,
        isOnce.withLock({ isFirst in
          defer { isFirst = false }; return isFirst
        })
      else { return }
      request?.suspend()
      isSuspended.open()
    }
    request.resume()
    try await isSuspended.wait()
    try await server.waitForCounters { $0.openRequests == 0 }
    request.resume()
    let response = await request.response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
  }

  @Test("every segment follows the redirects of the request")
  func redirects() async throws {
    let payload = Payload(size: 16 << 20)
    let (target, _) = try server(.file(payload), releasing: 3)
    let location = target.url("/real.bin")
    let server = try LoopbackServer { _ in .response(302, headers: ["Location": location], text: "") }
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.count >= 4)
  }

  @Test("a wrong digest fails the download and removes the part file and its map")
  func wrongDigest() async throws {
    let payload = Payload(size: 16 << 20)
    let (server, _) = try server(.file(payload), releasing: 3)
    let fixture = try DownloadFixture()
    let digest = ExpectedDigest(algorithm: .sha256, hex: String(repeating: "0", count: 64))
    let response = await (try fixture.download(.of(server), expecting: [digest], segmentation: Segmentation(.fixed(4))))
      .resume().response()
    guard case .verification? = response.error else {
      Issue.record("unexpected: \(String(describing: response.error))")
      return
    }
    #expect(try fixture.names().isEmpty)
  }
}
