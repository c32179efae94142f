import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct PlainDownloadTests {
  @Test(
    "a file of any size arrives byte for byte, and nothing is left beside it",
    arguments: [0, 1, 65536, 1_048_575, 1_048_576, 1_048_577, 20_971_520] as [Int64])
  func sizes(_ size: Int64) async throws {
    let payload = Payload(size: size)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server)
    let response = await request.response()
    #expect(try response.result.get() == fixture.path)
    #expect(response.bytesReceived == size)
    #expect(response.bytesOnDisk == size)
    #expect(response.totalBytes == size)
    #expect(response.verification == .length)
    #expect(response.resumeData == nil)
    #expect(request.progress == TransferProgress(completed: size, total: size))
    #expect(request.state == .finished)
    try fixture.expectOnly(payload)
    #expect(server.requests.count == 1)
  }

  @Test("a resume beyond 4 GiB requests the right range and writes it at the right offset")
  func beyond32Bits() async throws {
    // A sparse part file replaces the first 5 GiB; only the last bytes are transferred.
    let payload = Payload(size: 5 << 30)
    let tail: Int64 = 100_000
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let part = try PartialFile.create(in: .open(fixture.directory.path, creating: false), name: "sparse.part")
    try part.truncate(to: payload.size - tail)
    var data = ResumeData(
      url: server.url("/file.bin"), validators: Validators(etag: "\"\(payload.name)\""), totalBytes: payload.size,
      partialFile: .init(
        directory: fixture.directory.path, name: part.name, identity: part.identity, finalName: DownloadFixture.name),
      checkpointBytes: payload.size - tail, bootID: BootID.current)
    data.refusals = 0
    let response = try await fixture.download(server, resumingWith: data.encoded()).response()
    #expect(response.isSuccess)
    #expect(response.resumedFrom == payload.size - tail)
    #expect(FileFacts(fixture.path)?.size == payload.size)
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: fixture.path))
    try file.seek(toOffset: UInt64(payload.size - tail))
    #expect(try file.readToEnd() == payload.bytes(payload.size - tail..<payload.size))
  }

  @Test("the destination does not exist before the file is complete", arguments: [false, true])
  func nothingEarly(hasOldFile: Bool) async throws {
    let payload = Payload(size: 1 << 20)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(payload).holding(after: 700_000, reached: reached, until: proceed))
    let fixture = try DownloadFixture()
    if hasOldFile { try fixture.directory.file(DownloadFixture.name, text: "old") }
    let arrived = Watched<Int64>(0)
    let request = try fixture.download(server, options: .removePreviousFile)
      .downloadProgress { progress in arrived.mutate { $0 = progress.completed } }.resume()
    try await reached.wait()
    try await arrived.wait(for: "700000 bytes on the disk") { $0 == 700_000 ? () : nil }
    #expect(fixture.partSize == 700_000)
    let part = try #require(try fixture.names().first { $0.hasSuffix(".part") })
    #expect(part.hasPrefix("."))
    #expect(FileFacts(fixture.directory.path(part))?.mode == 0o600)
    if hasOldFile {
      #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "old")
    } else {
      #expect(FileFacts(fixture.path) == nil)
    }
    proceed.open()
    #expect(await request.response().isSuccess)
    try fixture.expectOnly(payload)
  }

  @Test("a finished file has mode 0666 without the bits of the umask")
  func mode() async throws {
    let server = try LoopbackServer(.file(size: 10))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().isSuccess)
    let created = open(fixture.directory.path("other"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o666)
    close(created)
    #expect(FileFacts(fixture.path)?.mode == FileFacts(fixture.directory.path("other"))?.mode)
  }

  @Test("isNamedByResponse takes the file name from Content-Disposition, without its directories")
  func namedByResponse() async throws {
    let server = try LoopbackServer(.file(size: 10).contentDisposition("attachment; filename=\"../../%2fetc/x.txt\""))
    let fixture = try DownloadFixture()
    let destination = DownloadDestination(directory: fixture.directory.path, name: "fallback", isNamedByResponse: true)
    let response = await fixture.session.download(try .of(server), to: destination).response()
    #expect(try response.result.get() == fixture.directory.path("x.txt"))
    #expect(try fixture.names() == ["x.txt"])
  }

  @Test("of two Content-Disposition fields the first one names the file, without a part of the second")
  func namedTwice() async throws {
    let field = "attachment; filename=x.txt"
    let server = try LoopbackServer(.file(size: 10).contentDisposition(field).contentDisposition(field))
    let fixture = try DownloadFixture()
    let destination = DownloadDestination(directory: fixture.directory.path, name: "fallback", isNamedByResponse: true)
    _ = await fixture.session.download(try .of(server), to: destination).response()
    #expect(try fixture.names() == ["x.txt"])
  }

  @Test("200 parallel downloads complete twice and reuse connections")
  func many() async throws {
    let payload = Payload(size: 30_000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    for round in 0..<2 {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<200 {
          let path = fixture.directory.path("\(round)-\(number)")
          let request = try fixture.download(.of(server, "/\(number)"), to: path)
          group.addTask {
            guard await request.response().isSuccess else { return false }
            return try sha256(ofFile: path) == payload.sha256
          }
        }
        for try await isGood in group { #expect(isGood) }
      }
    }
    #expect(try fixture.names().count == 400)
    #expect(server.requests.count == 400)
    #expect(server.requests.contains { $0.indexOnConnection > 0 })
    // The server counts after it has sent, and the client can be finished earlier.
    try await server.waitForCounters { $0.openRequests == 0 }
    #expect(server.counters.bodyBytesSent == 400 * payload.size)
  }
}
