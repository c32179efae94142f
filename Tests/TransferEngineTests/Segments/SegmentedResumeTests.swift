import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// What counts of a file that several connections have begun.
@Suite(.timeLimit(.minutes(5))) struct SegmentedResumeTests {
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
}
