import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct PauseTests {
  static let payload = Payload(size: 3 << 20)
  static let half: Int64 = 1_500_000

  /// A download that has written exactly `half` bytes and is waiting for more.
  private struct Halfway {
    let fixture: DownloadFixture
    let server: LoopbackServer
    let request: DownloadRequest

    init(_ behaviour: FileBehaviour = .file(payload)) async throws {
      server = try LoopbackServer(behaviour.stalling(after: half))
      fixture = try DownloadFixture()
      let arrived = Watched<Int64>(0)
      request = try fixture.download(server).downloadProgress { progress in arrived.mutate { $0 = progress.completed } }
        .resume()
      try await arrived.wait(for: "the first half") { $0 == half ? () : nil }
    }
  }

  @Test("another session resumes a cancelled download and requests only the missing bytes")
  func otherSession() async throws {
    let halfway = try await Halfway()
    let data = try #require(await halfway.request.cancelProducingResumeData())
    #expect(halfway.request.state == .cancelled)
    let ended = await halfway.request.response()
    guard case .cancelled? = ended.error else {
      Issue.record("\(String(describing: ended.error))")
      return
    }
    #expect(halfway.request.resumeData == data)
    #expect(ended.resumeData?.checkpointBytes == Self.half)
    try await halfway.server.waitForCounters { $0.openRequests == 0 }
    let sent = halfway.server.counters.bodyBytesSent
    let request = try halfway.fixture.download(.of(halfway.server), session: Session(), resumingWith: data)
    let response = await request.response()
    #expect(response.isSuccess)
    #expect(response.resumedFrom == Self.half)
    try await halfway.server.waitForCounters { $0.openRequests == 0 }
    #expect(halfway.server.counters.bodyBytesSent - sent == Self.payload.size - Self.half)
    #expect(halfway.server.requests.map(\.range) == [nil, "\(Self.half)-"])
    #expect(request.progress == TransferProgress(completed: Self.payload.size, total: Self.payload.size))
    try halfway.fixture.expectOnly(Self.payload)
  }

  @Test("a suspended request continues after resume()")
  func suspend() async throws {
    let halfway = try await Halfway()
    halfway.request.suspend()
    #expect(halfway.request.state == .suspended)
    try await halfway.server.waitForCounters { $0.openConnections == 0 }
    #expect(halfway.fixture.partSize == Self.half)
    #expect(halfway.server.requests.count == 1)
    halfway.request.resume()
    let response = await halfway.request.response()
    #expect(response.isSuccess)
    #expect(halfway.server.requests.map(\.range) == [nil, "\(Self.half)-"])
    #expect(response.bytesReceived == Self.payload.size)
    try halfway.fixture.expectOnly(Self.payload)
  }

  @Test("a suspended download that is cancelled returns its resume data")
  func suspendThenCancel() async throws {
    let halfway = try await Halfway()
    halfway.request.suspend()
    let data = try #require(await halfway.request.cancelProducingResumeData())
    try halfway.fixture.expectPart(ResumeData(data), holds: Self.half, of: Self.payload)
    #expect(halfway.server.requests.count == 1)
  }

  @Test("a download completes after 100 calls of suspend and resume")
  func restless() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server).resume()
    for _ in 0..<100 {
      request.suspend()
      await Task.yield()
      request.resume()
    }
    #expect(await request.response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a download that is suspended before its start sends no request until it is resumed")
  func suspendedFirst() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server).suspend()
    await fixture.session.ping()
    #expect(server.requests.isEmpty)
    request.resume()
    #expect(await request.response().isSuccess)
  }

  @Test("after a reboot the download resumes at the last checkpoint")
  func otherBoot() async throws {
    let halfway = try await Halfway()
    let kept = try #require(await halfway.request.cancelProducingResumeData())
    var data = try #require(ResumeData(kept))
    data.bootID = "another"
    data.checkpointBytes = 1_000_000
    // After a power cut the bytes beyond the checkpoint are undefined.
    let path = halfway.fixture.directory.path(data.partialFile.name)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: 1_000_000)
    try file.write(contentsOf: Data(count: 500_000))
    try file.close()
    let response = try await halfway.fixture.download(halfway.server, resumingWith: data.encoded()).response()
    #expect(response.isSuccess)
    #expect(response.resumedFrom == 1_000_000)
    #expect(halfway.server.requests.last?.range == "1000000-")
    try halfway.fixture.expectOnly(Self.payload)
  }

  @Test("after a kill without a reboot the download resumes at the part file's length, not at the checkpoint")
  func sameBoot() async throws {
    let halfway = try await Halfway()
    let kept = try #require(await halfway.request.cancelProducingResumeData())
    var data = try #require(ResumeData(kept))
    data.checkpointBytes = 0
    data.isAtRest = nil  // as recorded during a transfer
    let response = try await halfway.fixture.download(halfway.server, resumingWith: data.encoded()).response()
    #expect(response.resumedFrom == Self.half)
    #expect(halfway.server.requests.last.map(Self.start) == Self.half - RangeStrategies.overlapBytes)
    try halfway.fixture.expectOnly(Self.payload)
  }

  /// How a part file changes after an interrupted attempt whose last checkpoint is at `checkpoint`.
  enum Tampering: String, CaseIterable, CustomTestStringConvertible {
    case none, appended, appendedBeyondTotal, filledToTotal, overwritten, overwrittenBeforeTheCheckpoint
    var testDescription: String { rawValue }

    func happen(to path: String, size: Int64, total: Int64, checkpoint: Int64) throws {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      func write(_ count: Int64, at offset: Int64) throws {
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(count)))
      }
      switch self {
      case .none: break
      case .appended: try write(1000, at: size)
      case .appendedBeyondTotal: try write(total - size + 1000, at: size)
      case .filledToTotal: try write(total - size, at: size)
      case .overwritten: try write(1000, at: size - 2000)
      case .overwrittenBeforeTheCheckpoint:
        try write(1000, at: checkpoint - 2000)
        try write(1000, at: size - 1000)
      }
      try file.close()
    }

    /// The first byte that each request after the first requests.
    func starts(size: Int64, total: Int64, checkpoint: Int64) -> [Int64] {
      let overlap = RangeStrategies.overlapBytes
      return switch self {
      case .none: [size - overlap]
      case .appended: [size + 1000 - overlap, checkpoint - overlap]
      case .appendedBeyondTotal, .filledToTotal: [total - overlap, checkpoint - overlap]
      case .overwritten: [size - overlap, checkpoint - overlap]
      case .overwrittenBeforeTheCheckpoint: [size - overlap, checkpoint - overlap, 0]
      }
    }
  }

  /// The first byte that a request requests.
  private static func start(_ request: ServedRequest) -> Int64 {
    request.range.flatMap { Int64($0.dropLast()) } ?? 0
  }

  @Test(
    "after a kill the comparison finds bytes that others wrote into the part file", arguments: Tampering.allCases,
    [true, false])
  func tampering(_ tampering: Tampering, isStrong: Bool) async throws {
    let file = FileBehaviour.file(Self.payload)
    let halfway = try await Halfway(isStrong ? file : file.weakETag())
    let (server, fixture) = (halfway.server, halfway.fixture)
    let left = try #require(await halfway.request.cancelProducingResumeData())
    var data = try #require(ResumeData(left))
    let checkpoint = Self.half / 2
    data.checkpointBytes = checkpoint
    data.isAtRest = nil
    let path = fixture.directory.path(data.partialFile.name)
    try tampering.happen(to: path, size: Self.half, total: Self.payload.size, checkpoint: checkpoint)
    let response = try await fixture.download(server, resumingWith: data.encoded()).response()
    #expect(response.isSuccess, "\(String(describing: response.error))")
    try fixture.expectOnly(Self.payload)
    let starts = tampering.starts(size: Self.half, total: Self.payload.size, checkpoint: checkpoint)
    #expect(server.requests.dropFirst().map(Self.start) == starts)
    #expect(
      server.requests.dropFirst().filter { $0.range != nil }.allSatisfy { ($0.headers["If-Range"] != nil) == isStrong })
  }

  @Test("if the connection breaks during the comparison, the next attempt compares again")
  func interruptedComparison() async throws {
    let halfway = try await Halfway()
    let left = try #require(await halfway.request.cancelProducingResumeData())
    var data = try #require(ResumeData(left))
    data.checkpointBytes = Self.half / 2
    data.isAtRest = nil
    let path = halfway.fixture.directory.path(data.partialFile.name)
    try Tampering.overwritten.happen(
      to: path, size: Self.half, total: Self.payload.size, checkpoint: data.checkpointBytes)
    let cutting = try LoopbackServer(.file(Self.payload).dropping(after: 1000, on: .at(0)))
    let first = try await halfway.fixture.download(cutting, resumingWith: data.encoded()).response()
    #expect(!first.isSuccess)
    let kept = try #require(first.resumeData)
    #expect(kept.checkpointBytes == Self.half / 2 && kept.isAtRest != true)
    let second = try await halfway.fixture.download(cutting, resumingWith: kept.encoded()).response()
    #expect(second.isSuccess)
    #expect(
      cutting.requests.map(Self.start)
        == [
          Self.half - RangeStrategies.overlapBytes, Self.half - RangeStrategies.overlapBytes,
          Self.half / 2 - RangeStrategies.overlapBytes,
        ])
    try halfway.fixture.expectOnly(Self.payload)
  }

  enum Meddling: String, CaseIterable {
    case deleted, emptied, cut, grown, grownBeyondTotal, replaced, linkedTwice, symlink, fifo, directory

    /// The byte at which the download must resume.
    var resumesFrom: Int64 {
      switch self {
      case .cut: 1000
      // Bytes that were added after the end of the attempt are not used.
      case .grown, .grownBeyondTotal: half
      default: 0
      }
    }

    func happen(to path: String, aside: String) throws {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      switch self {
      case .deleted: unlink(path)
      case .emptied: truncate(path, 0)
      case .cut: truncate(path, 1000)
      case .grown: truncate(path, off_t(half + 10))
      case .grownBeyondTotal: truncate(path, off_t(payload.size + 10))
      case .replaced:
        rename(path, aside)
        try bytes.write(to: URL(fileURLWithPath: path))
      case .linkedTwice: link(path, aside)
      case .symlink:
        rename(path, aside)
        Glibc.symlink(aside, path)
      case .fifo:
        unlink(path)
        mkfifo(path, 0o600)
      case .directory:
        unlink(path)
        mkdir(path, 0o700)
      }
    }
  }

  @Test(
    "a part file that others changed is detected, and the download is correct",
    arguments: Meddling.allCases.filter { $0 != .directory })
  func meddled(_ meddling: Meddling) async throws {
    let halfway = try await Halfway()
    let data = try #require(await halfway.request.cancelProducingResumeData())
    let name = try #require(ResumeData(data)).partialFile.name
    let elsewhere = try TemporaryDirectory()
    try meddling.happen(to: halfway.fixture.directory.path(name), aside: elsewhere.path("aside"))
    let before = try? Data(contentsOf: elsewhere.url.appendingPathComponent("aside"))
    let response = try await halfway.fixture.download(halfway.server, resumingWith: data).response()
    #expect(response.error == nil)
    #expect(response.resumedFrom == meddling.resumesFrom)
    try halfway.fixture.expectOnly(Self.payload)
    #expect((try? Data(contentsOf: elsewhere.url.appendingPathComponent("aside"))) == before)
  }

  @Test("a directory with the part file's name is an error and is not removed")
  func directory() async throws {
    let halfway = try await Halfway()
    let data = try #require(await halfway.request.cancelProducingResumeData())
    let name = try #require(ResumeData(data)).partialFile.name
    try Meddling.directory.happen(to: halfway.fixture.directory.path(name), aside: "")
    let response = try await halfway.fixture.download(halfway.server, resumingWith: data).response()
    #expect(response.error != nil)
    #expect(try halfway.fixture.names() == [name])
  }

  @Test(
    "with unreadable resume data the download starts from the beginning",
    arguments: ["", "{}", "{\"version\":2}", "\u{0}"])
  func unreadable(_ text: String) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server, resumingWith: Data(text.utf8)).response()
    #expect(response.isSuccess)
    #expect(server.requests.map(\.range) == [nil])
  }

  @Test("resume data holds no secrets")
  func secrets() async throws {
    let server = try LoopbackServer(.file(Self.payload).dropping(after: Self.half))
    let fixture = try DownloadFixture()
    var request = try TransferRequest.of(server, headers: [.authorization: "Bearer hunter2"])
    request.credentials = Credentials(username: "u", password: "hunter2")
    let response = try await fixture.download(request).response()
    let data = try #require(response.resumeData).encoded()
    #expect(!String(decoding: data, as: UTF8.self).contains("hunter2"))
  }
}
