import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// Downloads with several connections, against servers with exact faults.
@Suite(.timeLimit(.minutes(5))) struct SegmentedDownloadTests {
  private static let mebibyte: Int64 = 1 << 20

  /// Stores the records. Can hold back the first one that has segments.
  private final class Journal: DownloadJournal {
    let records = Watched<[ResumeData]>([])
    let holdsSegments: Gate?

    init(holdingSegments gate: Gate? = nil) { holdsSegments = gate }

    func record(_ data: ResumeData) async throws {
      records.mutate { $0.append(data) }
      if data.segments != nil { try await holdsSegments?.wait() }
    }

    func willRename(_ data: ResumeData) async throws {}
  }

  /// The first connection gets the first MiB, and the rest when this many ranges have been requested.
  private func server(_ behaviour: FileBehaviour, releasing count: Int) throws -> (LoopbackServer, Gate) {
    let proceed = Gate()
    let requests = Mutex(0)
    let handler = behaviour.holding(after: Self.mebibyte, until: proceed, on: .fresh).handler()
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
    let (server, _) = try server(.file(payload), releasing: 7)
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

  @Test(
    "a server that refuses ranges, or sends something else, costs nothing but the attempt: one connection fetches the file",
    arguments: [
      "200", "shifted", "lies about the total", "another version", "no Content-Range", "multipart", "404", "encoded",
      "no validator",
    ])
  func refusals(fault: String) async throws {
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
    let (server, _) = try server(behaviour, releasing: 1)
    let fixture = try DownloadFixture()
    let response = await (try fixture.download(.of(server), segmentation: Segmentation(.fixed(4)))).resume().response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    #expect(server.requests.filter { $0.range == nil }.count == 1)
    #expect(server.requests.filter { $0.range != nil }.count == 1)
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

  @Test("no byte of another segment is written, or even requested, before a durable record names the segments")
  func recordFirst() async throws {
    let payload = Payload(size: 16 << 20)
    let server = try LoopbackServer(.file(payload).holding(after: 4 << 20, until: Gate(), on: .first(0)))
    let gate = Gate()
    let journal = Journal(holdingSegments: gate)
    let fixture = try DownloadFixture()
    let request = try fixture.download(.of(server), journal: journal, segmentation: Segmentation(.fixed(4)))
    request.resume()
    try await journal.records.wait(for: "a record with segments") { $0.contains { $0.segments != nil } ? () : nil }
    for _ in 0..<20 { await fixture.session.ping() }
    #expect(server.requests.allSatisfy { $0.range == nil })
    let record = try #require(journal.records.value.first { $0.segments != nil })
    #expect(record.version == 2)
    #expect(record.segments?.map != nil)
    gate.open()
    #expect(await request.response().isSuccess)
    try fixture.expectOnly(payload)
  }

  /// Stops a download of four connections after each of them has brought something.
  private func interrupted(
    _ payload: Payload, _ fixture: DownloadFixture, _ journal: Journal
  ) async throws -> (data: ResumeData, received: Int64) {
    let hold = Gate()
    let server = try LoopbackServer(
      .file(payload).holding(after: 2 << 20, until: hold, on: .fresh).holding(after: 1 << 20, until: hold, on: .ranged))
    let request = try fixture.download(.of(server), journal: journal, segmentation: Segmentation(.fixed(4)))
    let arrived = Gate()
    request.downloadProgress { if $0.completed == 5 << 20 { arrived.open() } }
    request.resume()
    try await arrived.wait()
    let data = try #require(await request.cancelProducingResumeData().flatMap { ResumeData($0) })
    hold.open()
    return (data, 5 << 20)
  }

  @Test("a stopped download goes on with what is missing, and no byte is fetched twice")
  func resumes() async throws {
    let payload = Payload(size: 32 << 20)
    let fixture = try DownloadFixture()
    let (data, received) = try await interrupted(payload, fixture, Journal())
    #expect(data.segments?.synced.ranges.count == 4)
    #expect(data.checkpointBytes == received)
    #expect(PartialFiles.usableBytes(data) == received)
    let server = try LoopbackServer(.file(payload))
    let response = await
      (try fixture.download(.of(server), resumingWith: data.encoded(), segmentation: Segmentation(.fixed(4))))
      .resume().response()
    #expect(response.error == nil)
    // A connection whose rest another one takes may have received a buffer more than it writes.
    #expect(response.bytesReceived >= payload.size - received)
    #expect(response.bytesReceived < payload.size - received + Self.mebibyte)
    try fixture.expectOnly(payload)
  }

  @Test("one connection, too, fetches only what is missing")
  func resumesAlone() async throws {
    let payload = Payload(size: 32 << 20)
    let fixture = try DownloadFixture()
    let (data, received) = try await interrupted(payload, fixture, Journal())
    let server = try LoopbackServer(.file(payload))
    let response = await (try fixture.download(.of(server), resumingWith: data.encoded())).resume().response()
    #expect(response.error == nil)
    #expect(response.bytesReceived == payload.size - received)
    #expect(server.counters.maxOpenRequests == 1)
    try fixture.expectOnly(payload)
  }

  @Test("after a kill the pieces of the map count, after another boot only what a checkpoint had synced")
  func afterKill() async throws {
    let payload = Payload(size: 32 << 20)
    for isReboot in [false, true] {
      let fixture = try DownloadFixture()
      let journal = Journal()
      let (data, _) = try await interrupted(payload, fixture, journal)
      var record = try #require(journal.records.value.last { $0.segments != nil })
      #expect(record.isAtRest != true)
      if isReboot {
        record.bootID = "another boot"
        // A power cut may leave anything in bytes that were not synced.
        try overwriteGaps(of: record.segments?.synced ?? ByteRanges(), in: fixture, data)
      }
      let usable = PartialFiles.usableBytes(record) ?? 0
      if isReboot {
        #expect(usable == record.segments?.synced.count)
      } else {
        // Each connection loses less than a piece.
        #expect(usable >= (5 << 20) - 4 * PieceMap.pieceBytes)
      }
      let server = try LoopbackServer(.file(payload))
      let response = await (try fixture.download(.of(server), resumingWith: record.encoded())).resume().response()
      #expect(response.error == nil)
      #expect(response.bytesReceived == payload.size - usable)
      try fixture.expectOnly(payload)
    }
  }

  private func overwriteGaps(of ranges: ByteRanges, in fixture: DownloadFixture, _ data: ResumeData) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.directory.path(data.partialFile.name)))
    defer { try? handle.close() }
    let size = Int64(try handle.seekToEnd())
    for gap in ranges.gaps(upTo: size) {
      try handle.seek(toOffset: UInt64(gap.lowerBound))
      try handle.write(contentsOf: Data(repeating: 0xee, count: Int(gap.length)))
    }
  }

  @Test("a file that has changed meanwhile is fetched as a whole")
  func changed() async throws {
    let payload = Payload(size: 32 << 20)
    let fixture = try DownloadFixture()
    let (data, _) = try await interrupted(payload, fixture, Journal())
    let other = Payload(size: 32 << 20, seed: 7)
    let server = try LoopbackServer(.file(other))
    let response = await
      (try fixture.download(.of(server), resumingWith: data.encoded(), segmentation: Segmentation(.fixed(4))))
      .resume().response()
    #expect(response.error == nil)
    #expect(response.resumedFrom == 0)
    try fixture.expectOnly(other)
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

  @Test("bytes that must be compared are compared before another connection begins")
  func comparesFirst() async throws {
    let payload = Payload(size: 16 << 20)
    let fixture = try DownloadFixture()
    let journal = Journal()
    let first = try LoopbackServer(.file(payload).holding(after: 4 << 20, until: Gate()))
    let request = try fixture.download(.of(first), journal: journal)
    let arrived = Gate()
    request.downloadProgress { if $0.completed == 4 << 20 { arrived.open() } }
    request.resume()
    try await arrived.wait()
    _ = await request.cancelProducingResumeData()
    // As after a kill: the record names the file, and its length differs from the last checkpoint.
    let record = try #require(journal.records.value.first)
    // Another program has changed the last bytes.
    let path = fixture.directory.path(record.partialFile.name)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64((4 << 20) - 1000))
    try handle.write(contentsOf: Data(repeating: 1, count: 1000))
    try handle.close()
    let server = try LoopbackServer(.file(payload))
    let response = await
      (try fixture.download(
        .of(server), resumingWith: record.encoded(), journal: Journal(), segmentation: Segmentation(.fixed(4))))
      .resume()
      .response()
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    // The comparison came first, and found that nothing may be joined.
    #expect(server.requests[1].range == nil)
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

  @Test("automatic adds connections to a server that limits each of them, and none to a fast one")
  func automatic() async throws {
    let payload = Payload(size: 72 << 20)
    let slow = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 8 << 20))
    let fast = try LoopbackServer(.file(payload))
    for (server, isSlow) in [(slow, true), (fast, false)] {
      let fixture = try DownloadFixture()
      var segmentation = Segmentation(.automatic(upTo: 4))
      segmentation.interval = isSlow ? .milliseconds(500) : .seconds(2)
      let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
      #expect(response.error == nil)
      try fixture.expectOnly(payload)
      if isSlow {
        #expect(server.counters.maxOpenRequests > 1)
        #expect(server.counters.maxOpenRequests <= 4)
      } else {
        #expect(server.requests.count == 1)
      }
    }
  }

  /// Permits this many connections, and counts those that are held.
  private final class Permits: ConnectionPermits {
    let held = Mutex((now: 0, most: 0))
    let limit: Int
    init(limit: Int) { self.limit = limit }

    func acquire() async -> Bool {
      held.withLock { held in
        guard held.now < limit else { return false }
        held.now += 1
        held.most = max(held.most, held.now)
        return true
      }
    }

    func release() async { held.withLock { $0.now -= 1 } }
  }

  @Test("automatic keeps to what is permitted, and gives every permit back", arguments: [0, 1])
  func permitted(limit: Int) async throws {
    let payload = Payload(size: 66 << 20)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 16 << 20))
    let fixture = try DownloadFixture()
    let permits = Permits(limit: limit)
    var segmentation = Segmentation(.automatic(upTo: 4), permits: permits)
    segmentation.interval = .milliseconds(100)
    let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    #expect(server.counters.maxOpenRequests <= 1 + limit)
    #expect(permits.held.withLock { $0.now } == 0)
    #expect(permits.held.withLock { $0.most } <= limit)
    if limit == 0 { #expect(server.requests.count == 1) }
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
