import Foundation
import TestSupport
import Testing

/// A destination has the server's bytes, its previous content, or does not exist.
@Suite("the destination", .timeLimit(.minutes(5))) struct ExactBytesTests {
  @Test("it does not exist until the download is complete")
  func absentUntilComplete() async throws {
    let payload = Payload(size: 3 << 20, seed: 1)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      .file(payload).holding(after: payload.size - 1, reached: reached, until: proceed))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 1 << 20)
    let names = try daemon.fileNames
    #expect(names.count == 1 && names[0].hasSuffix(".part"), "\(names)")
    proceed.open()
    try await daemon.expectCompleted(id, payload, as: "a")
  }

  @Test("it keeps its old content until the rename, even across a kill")
  func replacedAtOnce() async throws {
    let payload = Payload(size: 3 << 20, seed: 2)
    let old = Payload(size: 5000, seed: 99)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      .file(payload).holding(after: 2 << 20, reached: reached, until: Gate(), on: .at(0))
        .holding(after: 4096, reached: proceed, until: proceed, on: .at(1)))
    let daemon = try await Daemon()
    try old.write(to: daemon.downloaded("a"))
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--replace")
    try await reached.wait()
    #expect(try sha256(ofFile: daemon.downloaded("a")) == old.sha256)
    let trap = try await Interception(
      daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads], doing: "signal=KILL")
    try await daemon.kill9()
    try await trap.detach()
    #expect(try sha256(ofFile: daemon.downloaded("a")) == old.sha256)
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
  }

  @Test("an existing destination is refused at once and unchanged")
  func refused() async throws {
    let server = try LoopbackServer(.file(size: 100))
    let daemon = try await Daemon()
    let path = try daemon.directory.file("downloads/a", text: "mine")
    #expect(try await daemon.ctl("add", server.url("/a"), "-o", "a").status == 73)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("a file that appears during the download is not replaced without --replace")
  func appearing() async throws {
    let payload = Payload(size: 3 << 20, seed: 3)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, reached: reached, until: proceed))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    let path = try daemon.directory.file("downloads/a", text: "mine")
    proceed.open()
    let job = try await daemon.finished(id)
    #expect(job.state == "failed")
    #expect(job.error?.code == "destination-exists")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  @Test("it does not appear if the checksum is wrong, and the job is not retried")
  func wrongChecksum() async throws {
    let server = try LoopbackServer(.file(size: 2 << 20))
    let daemon = try await Daemon()
    let wrong = String(repeating: "0", count: 64)
    let add = try await daemon.ctl("add", server.url("/a"), "-o", "a", "--checksum", "sha-256=\(wrong)", "--wait")
    #expect(add.status == 1)
    let job = try await daemon.job(try #require(add.lines.first))
    #expect(job.state == "failed")
    #expect(job.error?.code == "checksum-mismatch")
    #expect(job.error?.transient == false)
    #expect(try daemon.fileNames.isEmpty)
    #expect(server.requests.count == 1)
  }

  /// The validators that the server sends.
  enum Validators: String, CaseIterable {
    case strongETag, weakETag, date, none

    func apply(to file: FileBehaviour) -> FileBehaviour {
      switch self {
      case .strongETag: file
      case .weakETag: file.weakETag()
      case .date: file.withoutETag()
      case .none: file.withoutValidators()
      }
    }
  }

  @Test("it has only the new version if the file changed between kill and restart", arguments: Validators.allCases)
  func changed(_ validators: Validators) async throws {
    let (old, new) = (Payload(size: 4 << 20, seed: 4), Payload(size: 4 << 20, seed: 5))
    let reached = Gate()
    let server = try LoopbackServer(
      validators.apply(to: .file(old).becoming(new)).holding(after: 3 << 20, reached: reached, until: Gate()))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 3 << 20)
    try await daemon.kill9()
    try await daemon.start()
    try await daemon.expectCompleted(id, new, as: "a")
  }

  @Test("it never contains an error page", arguments: [403, 404, 410, 503])
  func errorPage(status: Int) async throws {
    let payload = Payload(size: 4 << 20, seed: 6)
    let reached = Gate()
    let server = try LoopbackServer(
      .file(payload).holding(after: 3 << 20, reached: reached, until: Gate())
        .failing(status, on: .at(1), retryAfter: .seconds(1)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 3 << 20)
    try await daemon.kill9()
    let kept = try daemon.partSize
    try await daemon.start()
    try await daemon.failed(with: "http-\(status)", id)
    if status != 503 {
      #expect(try await daemon.finished(id).state == "failed")
      #expect(try !daemon.fileNames.contains("a"))
      #expect(server.requests.count == 2)
      #expect(try await daemon.ctl("retry", id).status == 0)
    }
    try await daemon.expectCompleted(id, payload, as: "a")
    // The last 64 KiB are compared unless a checkpoint covers all bytes.
    #expect([kept, kept - 64 << 10].contains(server.requests.last?.start))
  }
}
