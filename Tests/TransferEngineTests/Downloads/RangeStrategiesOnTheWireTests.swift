import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// A download that is interrupted at a known byte and then resumed by another session, often from a faulty server.
@Suite(.timeLimit(.minutes(5))) struct RangeStrategiesOnTheWireTests {
  static let size: Int64 = 1 << 20
  static let cut: Int64 = 300_000
  static let old = Payload(size: size, seed: 1)
  static let sameSize = Payload(size: size, seed: 2)
  static let longer = Payload(size: size + 5000, seed: 3)
  static let shorter = Payload(size: 200_000, seed: 4)

  static let plain = "300000-"
  /// Requests the last 64 KiB of the stored bytes again, to compare them.
  static let probe = "234464-"

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The server's behaviour after its first response, which is interrupted.
    var server: FileBehaviour
    /// The `Range` of each request after the first; `nil` means a request without `Range`.
    var asks: [String?]
    var resumedFrom: Int64
    var result = RangeStrategiesOnTheWireTests.old

    init(_ name: String, _ server: FileBehaviour, _ asks: [String?], resumedFrom: Int64, result: Payload = old) {
      testDescription = name
      self.server = server
      self.asks = asks
      self.resumedFrom = resumedFrom
      self.result = result
    }
  }

  private static let good = FileBehaviour.file(old)

  static let resuming: [Case] = [
    Case("a correct server", good, [plain], resumedFrom: cut),
    Case("only a strong date", good.withoutETag(), [plain], resumedFrom: cut),
    Case("a weak ETag", good.weakETag(), [probe], resumedFrom: cut),
    Case("no validators", good.withoutValidators(), [probe], resumedFrom: cut),
    Case(
      "a weak date only", good.withoutETag().lastModified(Date(timeIntervalSinceNow: 86_400)), [probe], resumedFrom: cut
    ),
    Case("200 to If-Range, 206 without", good.rejectingIfRangeTag(), [plain, probe], resumedFrom: cut),
    Case("412 to If-Range, 206 without", good.failing(412, on: .conditional), [plain, probe], resumedFrom: cut),
    Case("206 without the ETag", good.partsWithoutValidators(), [plain, probe], resumedFrom: cut),
    Case("206 with an unknown total", good.claimingTotal(nil), [plain], resumedFrom: cut),
    Case(
      "206 shorter than asked", good.shorteningRange(to: 200_000), [plain, "500000-", "700000-", "900000-"],
      resumedFrom: cut),
    Case(
      "206 shorter than asked, weak ETag", good.weakETag().shorteningRange(to: 400_000),
      [probe, "568928-", "903392-"], resumedFrom: cut),
  ]

  static let restarting: [Case] = [
    Case("changed, same size", good.becoming(sameSize), [plain], resumedFrom: 0, result: sameSize),
    Case("changed, longer", good.becoming(longer), [plain], resumedFrom: 0, result: longer),
    Case("changed, shorter than what is there", good.becoming(shorter), [plain], resumedFrom: 0, result: shorter),
    Case(
      "changed, longer, only a date", good.withoutETag().becoming(longer), [plain], resumedFrom: 0, result: longer),
    Case(
      "changed, another length under the old ETag", good.becoming(longer, validators: .kept), [plain, probe, nil],
      resumedFrom: 0, result: longer),
    Case(
      "changed, no validators", good.withoutValidators().becoming(sameSize, validators: .none), [probe, nil],
      resumedFrom: 0, result: sameSize),
    Case(
      "changed, the weak ETag kept", good.becoming(sameSize, validators: .kept).weakETag(), [probe, nil],
      resumedFrom: 0, result: sameSize),
    Case(
      "the Range is ignored", good.ignoringRange(), [plain, probe], resumedFrom: 0),
    Case("another ETag each time", good.etagPerRequest(), [plain], resumedFrom: 0),
    Case("206 from a later byte", good.shiftingRange(by: 10), [plain, probe, nil], resumedFrom: 0),
    Case("206 from an earlier byte", good.shiftingRange(by: -10), [plain, probe, nil], resumedFrom: 0),
    Case("206 without Content-Range", good.withoutContentRange(), [plain, probe, nil], resumedFrom: 0),
    Case("206 as multipart/byteranges", good.multipartRanges(), [plain, probe, nil], resumedFrom: 0),
    Case(
      "206 with an unreadable Content-Range", good.contentRange("items 1-2/3"), [plain, probe, nil], resumedFrom: 0),
    Case(
      "changed, If-Range is ignored, 206 without the ETag",
      good.becoming(sameSize, validators: .kept).partsWithoutValidators(), [plain, probe, nil], resumedFrom: 0,
      result: sameSize),
    Case("206 with another total", good.claimingTotal(size + 1), [plain, probe, nil], resumedFrom: 0),
    Case(
      "206 with more bytes than its Content-Range", good.contentRange("bytes \(cut)-\(cut + 999)/\(size)"),
      [plain, probe, nil], resumedFrom: 0),
    Case("206 in gzip", good.gzipped(on: .ranged), [plain, probe, nil], resumedFrom: 0),
    Case("206 with other bytes, weak ETag", good.weakETag().lyingAboutRange(by: -4096), [probe, nil], resumedFrom: 0),
    Case("416 with the file's length", good.refusingRange(), [plain, probe, nil], resumedFrom: 0),
    Case("416 with another length", good.refusingRange(length: 5), [plain, probe, nil], resumedFrom: 0),
    Case("416 without a length", good.refusingRange(withLength: false), [plain, probe, nil], resumedFrom: 0),
    Case(
      "206 of the overlap and no more, weak ETag", good.weakETag().shorteningRange(to: 65536), [probe, nil],
      resumedFrom: 0),
  ]

  @Test("the download is resumed", arguments: resuming)
  func resumes(_ row: Case) async throws { try await run(row) }

  @Test("the download starts over and keeps none of the old bytes", arguments: restarting)
  func restarts(_ row: Case) async throws { try await run(row) }

  private func run(_ row: Case) async throws {
    let server = try LoopbackServer(row.server.dropping(after: Self.cut))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    guard case .response(.truncated(Self.cut, _))? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    try fixture.expectPart(first.resumeData, holds: Self.cut, of: Self.old)

    let second = try await fixture.download(
      .of(server), session: Session(), resumingWith: first.resumeData?.encoded()
    ).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == row.resumedFrom)
    #expect(second.bytesOnDisk == row.result.size)
    #expect(server.requests.dropFirst().map(\.range) == row.asks)
    try fixture.expectOnly(row.result)
    for request in server.requests {
      #expect(request.headers["If-Range"]?.hasPrefix("W/") != true)
      #expect(request.headers["Accept-Encoding"] == "identity")
      if request.range == nil || request.range == Self.probe { #expect(request.headers["If-Range"] == nil) }
    }
  }

  @Test("bytes of a chunked 206 response beyond its Content-Range are not stored")
  func surplus() async throws {
    let last = Self.cut + 999
    let server = try LoopbackServer(
      Self.good.dropping(after: Self.cut).contentRange("bytes \(Self.cut)-\(last)/\(Self.size)", on: .at(1))
        .chunked(on: .at(1)))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(.of(server), session: Session(), resumingWith: first.resumeData?.encoded())
      .response()
    #expect(second.error?.code == .malformed)
    #expect(second.bytesOnDisk <= last + 1)
    #expect(!FileManager.default.fileExists(atPath: fixture.path))
  }

  @Test("a resumed download transfers only the missing bytes")
  func exactBytes() async throws {
    let server = try LoopbackServer(Self.good.dropping(after: Self.cut))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(.of(server), session: Session(), resumingWith: first.resumeData?.encoded())
      .response()
    // The server counts after it has sent, and the client can be finished earlier.
    try await server.waitForCounters { $0.openRequests == 0 }
    #expect(server.counters.bodyBytesSent == Self.size)
    #expect(second.bytesReceived == Self.size - Self.cut)
    #expect(server.requests[1].headers["If-Range"] == "\"\(Self.old.name)\"")
  }

  @Test("if all bytes are on disk but the length is unknown, 416 with that length completes the download")
  func complete416() async throws {
    let server = try LoopbackServer(Self.good.chunked(isEnded: false, on: .first(1)))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    guard case .response(.truncated(Self.size, nil))? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.isSuccess)
    #expect(server.requests.map(\.range) == [nil, "\(Self.size)-"])
    #expect(second.bytesReceived == 0)
    try fixture.expectOnly(Self.old)
  }

  @Test("the end of a part is not the end of a file whose length nothing tells")
  func shortPartsOfUnknownLength() async throws {
    let server = try LoopbackServer(
      Self.good.chunked(isEnded: false, on: .first(1)).dropping(after: Self.cut).shorteningRange(to: 400_000)
        .claimingTotal(nil))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    guard case .response(.truncated(Self.cut, nil))? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == Self.cut)
    #expect(second.verification == .length)
    #expect(server.requests.map(\.range) == [nil, Self.plain, "700000-", "\(Self.size)-"])
    try fixture.expectOnly(Self.old)
  }

  @Test("416 with the same length does not complete the download if the file has changed")
  func changed416() async throws {
    let server = try LoopbackServer(Self.good.chunked(isEnded: false, on: .first(1)).becoming(Self.sameSize))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.isSuccess)
    try fixture.expectOnly(Self.sameSize)
  }

  @Test("an unrequested 206 response is rejected, and the second request bypasses caches")
  func unaskedPart() async throws {
    let server = try LoopbackServer(Self.good.unaskedPart(on: .first(1)))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    #expect(server.requests.map { $0.headers["Cache-Control"] } == [nil, "no-cache"])
    try fixture.expectOnly(Self.old)
  }

  @Test("a server that always sends an unrequested 206 response fails the download")
  func unaskedPartAlways() async throws {
    let server = try LoopbackServer(Self.good.unaskedPart())
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .response(.unrequestedPartialContent)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(server.requests.count == 2)
    #expect(try fixture.names() == [])
  }

  @Test("the download fails after a few requests if the server ignores Range and never finishes")
  func hopeless() async throws {
    let server = try LoopbackServer(Self.good.ignoringRange().dropping(after: Self.cut, on: .always))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server, interceptor: .atOnce(3)).response()
    guard case .response(.truncated)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    // After two refused resumes the whole file is requested.
    let wholes = server.requests.filter { $0.range == nil }.count
    #expect(wholes >= 1)
    #expect(server.requests.count <= 10)
    #expect(FileFacts(fixture.path) == nil)
  }

  @Test("a digest detects a changed file whose ETag stayed the same")
  func splice() async throws {
    let server = try LoopbackServer(
      Self.good.becoming(Self.sameSize, validators: .kept).digest(.reprDigest).dropping(after: Self.cut))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    guard case .verification(.digest)? = second.error else {
      Issue.record("\(String(describing: second.error))")
      return
    }
    #expect(second.resumeData == nil)
    #expect(try fixture.names() == [])
  }
}
