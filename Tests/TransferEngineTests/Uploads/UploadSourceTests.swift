import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct UploadSourceTests {
  @Test("a missing source, and one that is not a regular file or has no length, are refused at once")
  func kinds() async throws {
    let fixture = try UploadFixture(size: 10)
    let server = try LoopbackServer { _ in .response(200) }
    mkfifo(fixture.directory.path("fifo"), 0o600)
    try fixture.directory.directory("directory")
    symlink("/nonexistent", fixture.directory.path("dangling"))
    for (name, expected) in [
      ("gone", "missing"), ("source.bin/x", "missing"), ("fifo", "not regular"), ("directory", "not regular"),
      ("dangling", "missing"), ("/dev/null", "not regular"),
      ("/proc/version", "no length"),
    ] {
      var upload = try fixture.upload(to: server.url("/a"))
      upload.source = name.hasPrefix("/") ? name : fixture.directory.path(name)
      let response = await fixture.send(upload, interceptor: .atOnce(3))
      #expect(word(response.error) == expected, "\(name)")
      #expect(response.error?.isTransient == false)
    }
    #expect(server.requests.isEmpty)
  }

  @Test("a source can have any modification time", arguments: [Int.min, -1, 0, 9_223_372_037, 1 << 40, .max])
  func anyTime(_ seconds: Int) {
    var status = stat()
    status.st_mtim = timespec(tv_sec: seconds, tv_nsec: 999_999_999)
    let identity = SourceIdentity(status)
    status.st_mtim.tv_sec = seconds == .max ? 0 : seconds + 1
    #expect(SourceIdentity(status) != identity)
  }

  @Test("a ledger with impossible numbers is refused")
  func impossibleLedgers() {
    let source = SourceIdentity(device: 1, inode: 2, size: 1000, modified: 3)
    func ledger(_ progress: UploadLedger.Progress, size: Int64 = 1000, acknowledged: Int64 = 0) -> UploadLedger {
      var source = source
      source.size = size
      var ledger = UploadLedger(source: source, target: "t", progress: progress)
      ledger.acknowledged = acknowledged
      return ledger
    }
    func tus(_ parts: (Int64, Int64)...) -> UploadLedger.Progress {
      .tus(TusProgress(parts: parts.map { .init(url: "u", start: $0.0, end: $0.1, expires: nil) }, final: nil))
    }
    func s3(_ size: Int64) -> UploadLedger.Progress {
      .s3(S3Progress(uploadID: "i", object: "o", partSize: size, completing: nil))
    }
    for good in [
      ledger(tus((0, 400), (400, 1000))), ledger(tus((0, 400))), ledger(s3(5 << 20)),
      ledger(.posting, acknowledged: 1000),
    ] { #expect(UploadLedger(good.encoded()) == good) }
    for bad in [
      ledger(tus((400, 0))), ledger(tus((0, .max))), ledger(tus((.min, 0))), ledger(tus((0, 400), (0, 400))),
      ledger(s3(0)), ledger(s3(-1)), ledger(s3(.max)), ledger(.posting, size: -1), ledger(.posting, acknowledged: -1),
      ledger(.posting, acknowledged: 1001), ledger(.posting, size: .min, acknowledged: .max),
    ] { #expect(UploadLedger(bad.encoded()) == nil, "\(bad)") }
  }

  @Test("a symbolic link is followed")
  func link() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { _ in .response(200) }
    symlink("source.bin", fixture.directory.path("link"))
    var upload = try fixture.upload(to: server.url("/a"))
    upload.source = fixture.directory.path("link")
    #expect(await fixture.send(upload).isSuccess)
    #expect(server.requests[0].bodySHA256 == fixture.payload.sha256)
  }

  /// How a source changes while it is being sent.
  enum Change: String, CaseIterable, Sendable {
    case overwritten, truncated, grown, replaced
  }

  private static func change(_ fixture: UploadFixture, _ change: Change) throws -> Payload {
    let size = fixture.payload.size
    let new = Payload(size: change == .truncated ? size / 4 : change == .grown ? size * 2 : size, seed: 7)
    try fixture.change(to: new, inPlace: change != .replaced)
    return new
  }

  @Test("a source that changes while it is sent is sent again in its new version", arguments: Change.allCases)
  func restart(_ kind: Change) async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(bodies: .byScript) { request in
      let go = Script.Step.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      let rest: [Script.Step] = [.readBody(), .status(200, headers: ["Content-Length": "0"]), .keepAlive]
      return request.index == 0
        ? Script([go, .readBody(upTo: 1 << 20), .signal(reached), .waitFor(proceed)] + rest) : Script([go] + rest)
    }
    let request = fixture.session.upload(try fixture.upload(to: server.url("/a"))).resume()
    try await reached.wait()
    let new = try Self.change(fixture, kind)
    proceed.open()
    let response = await request.response()
    #expect(word(response.error) == "success")
    // A source that changes in place is not sent completely. A replaced source can be, from the old file.
    if kind != .replaced { #expect(!server.requests[0].isBodyComplete) }
    #expect(server.requests.last?.bodySHA256 == new.sha256)
    #expect(response.source == (try SourceIdentity(path: fixture.path)))
  }

  @Test("a source that changes while it is sent fails the upload if onChange is fail", arguments: Change.allCases)
  func fail(_ kind: Change) async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(bodies: .byScript) { request in
      [
        .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(upTo: 1 << 20), .signal(reached),
        .waitFor(proceed), .readBody(), .status(200, headers: ["Content-Length": "0"]), .keepAlive,
      ]
    }
    let request = fixture.session.upload(
      try fixture.upload(to: server.url("/a"), onChange: .fail), interceptor: .atOnce(3)
    ).resume()
    try await reached.wait()
    _ = try Self.change(fixture, kind)
    proceed.open()
    let response = await request.response()
    #expect(word(response.error) == "changed")
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count == 1)
  }

  @Test("a source that changes during each attempt causes a transient error")
  func restless() async throws {
    let fixture = try UploadFixture(size: 100_000)
    let server = try LoopbackServer { request in
      try? fixture.change(to: Payload(size: 100_000 + Int64(request.index), seed: UInt64(request.index) + 2))
      return .response(200)
    }
    let response = await fixture.send(try fixture.upload(to: server.url("/a")))
    #expect(word(response.error) == "keeps changing")
    #expect(response.error?.isTransient == true)
    #expect(server.requests.count == UploadPipeline.maximumRestarts + 1)
  }

  @Test("a file that is removed while it is sent is still sent completely")
  func removed() async throws {
    let fixture = try UploadFixture(size: 48 << 20)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      unlink(fixture.path)
      return [
        .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBody(),
        .status(200, headers: ["Content-Length": "0"]), .keepAlive,
      ]
    }
    #expect(await fixture.send(try fixture.upload(to: server.url("/a"))).isSuccess)
    #expect(server.requests[0].bodySHA256 == fixture.payload.sha256)
  }

  @Test("a ledger survives encoding and decoding, and a ledger of another version is refused")
  func ledger() throws {
    var ledger = UploadLedger(
      source: SourceIdentity(device: 1, inode: 2, size: 3, modified: 4), target: "https://h:443/x",
      progress: .tus(TusProgress(parts: [.init(url: "https://h/1", start: 0, end: 3, expires: nil)])))
    ledger.acknowledged = 2
    #expect(UploadLedger(ledger.encoded()) == ledger)
    ledger.version = 2
    #expect(UploadLedger(ledger.encoded()) == nil)
    #expect(UploadLedger(Data("garbage".utf8)) == nil)
    #expect(UploadLedger(Data()) == nil)
  }
}
