import Foundation
import TestSupport
import Testing

/// No number from a server may crash the daemon or make a wrong file.
@Suite("hostile numbers", .timeLimit(.minutes(5))) struct HostileNumberTests {
  @Test(
    "the daemon survives an impossible end in Content-Range, and the file is right",
    arguments: [
      "bytes %-9223372036854775807/*", "bytes %-9223372036854775806/*",
      "bytes %-9223372036854775807/9223372036854775807",
      "bytes 0-9223372036854775807/*",
      "bytes 9223372036854775807-9223372036854775807/*", "bytes %-18446744073709551616/*", "bytes %--1/*",
      "bytes */9223372036854775807",
    ])
  func contentRange(_ form: String) async throws {
    let payload = Payload(size: 3 << 20, seed: 91)
    let file = FileBehaviour.file(payload).chunked().dropping(after: 2 << 20)
      .answering(on: .ranged) { answer, request in
        guard answer.status == 206, let first = request.range?.prefix(while: { $0 != "-" }) else { return }
        answer.headers["Content-Range"] = form.replacingOccurrences(of: "%", with: first)
      }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    let before = daemon.pid
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.contains { $0.range != nil }, "the rest was requested")
    try await daemon.expectUnharmed(since: before)
  }

  @Test("the daemon survives the largest size from an FTP server after REST, and the job reports why it ended")
  func transferReply() async throws {
    let payload = Payload(size: 3 << 20, seed: 92)
    var options = FTPServer.Options()
    options.unknownCommands = ["SIZE"]
    options.fault = .cut
    options.faultAfter = 2 << 20
    options.replyAfterRest = "150 Opening BINARY mode data connection for a.iso (9223372036854775807 bytes)"
    let server = try await FTPServer(options)
    try payload.write(to: server.root + "/a.iso")
    let daemon = try await Daemon()
    let before = daemon.pid
    let id = try await daemon.add(server.url("/a.iso"), "--retries", "1")
    let job = try await daemon.finished(id)
    #expect(server.commands.contains { $0.hasPrefix("REST ") && $0 != "REST 0" }, "the rest was requested")
    #expect(job.state == "failed")
    #expect(job.error?.code == "protocol", "\(job.error?.code ?? "-"): \(job.error?.message ?? "-")")
    #expect(job.error?.message.contains("9223372036854775807") == true)
    #expect(try !daemon.fileNames.contains("a.iso"))
    try await daemon.expectUnharmed(since: before)
  }

  @Test("a length that no disk can hold makes the job wait with the reason")
  func hugeLength() async throws {
    let payload = Payload(size: 3 << 20, seed: 93)
    let server = try LoopbackServer(files: [
      "/length": .file(payload).contentLengths(["9223372036854775807"]),
      "/part": FileBehaviour.file(payload).chunked().dropping(after: 2 << 20)
        .answering(on: .ranged) { answer, request in
          guard answer.status == 206, let first = request.range?.prefix(while: { $0 != "-" }) else { return }
          answer.headers["Content-Range"] = "bytes \(first)-9223372036854775806/9223372036854775807"
        },
    ])
    let daemon = try await Daemon()
    let before = daemon.pid
    for name in ["length", "part"] {
      let id = try await daemon.add(server.url("/" + name), "-o", name)
      try await daemon.failed(with: "disk-full", id)
    }
    #expect(try daemon.fileNames.allSatisfy { $0.hasPrefix(".") })
    try await daemon.expectUnharmed(since: before)
  }

  @Test(
    "impossible lengths and times end the attempt, not the daemon",
    arguments: [
      ["Content-Length": "9223372036854775808"], ["Content-Length": "-1"],
      ["Last-Modified": "Sun, 99 Nov 999999999999 08:49:37 GMT"], ["Retry-After": "9223372036854775807"],
      ["Age": "-9223372036854775808"], ["Content-Disposition": "attachment; filename*=UTF-8''%"],
    ])
  func heads(_ fields: [String: String]) async throws {
    let server = try LoopbackServer { request in
      let status = fields["Retry-After"] == nil ? 200 : 503
      return [
        .status(status, headers: HeaderList(fields.map { ($0.key, $0.value) })), .body(Data("hello".utf8)), .close,
      ]
    }
    let daemon = try await Daemon()
    let before = daemon.pid
    let id = try await daemon.add(server.url("/a"), "-J", "--retries", "0")
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" || job.bytesDone == 5, "\(job.state)")
    if job.state == "completed" { #expect(try daemon.fileNames.count == 1) }
    try await daemon.expectUnharmed(since: before)
  }

  @Test("a head with too many fields ends the attempt, not the daemon")
  func countlessFields() async throws {
    // Each field has three bytes, so 256 KiB are more than 65,535 fields.
    let server = try LoopbackServer { _ in
      [.raw(Data(("HTTP/1.1 200 OK\n" + String(repeating: "a:\n", count: 86_000) + "\n").utf8)), .close]
    }
    let daemon = try await Daemon()
    let before = daemon.pid
    let job = try await daemon.finished(daemon.add(server.url("/a"), "-o", "a", "--retries", "0"))
    #expect(job.state == "failed" && job.error?.code == "protocol", "\(job.error?.message ?? "-")")
    try await daemon.expectUnharmed(since: before)
  }

  @Test("a source file with an extreme modification time is uploaded")
  func sourceTime() async throws {
    // This file system stores any time; others truncate it to their range.
    let directory = "/dev/shm/transferd-test-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/a"
    try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
    let time = timespec(tv_sec: 1 << 40, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    let server = try LoopbackServer { _ in .response(200) }
    let daemon = try await Daemon()
    let before = daemon.pid
    let job = try await daemon.finished(daemon.upload(path, "--to", server.url("/a"), "--on-success", "delete"))
    #expect(job.state == "completed", "\(job.error?.message ?? "-")")
    try await daemon.expectUnharmed(since: before)
  }
}

extension Daemon {
  /// Checks that the process is the same and responds.
  func expectUnharmed(since pid: pid_t?, at location: SourceLocation = #_sourceLocation) async throws {
    #expect(self.pid == pid && pid.map { kill($0, 0) == 0 } == true, "the daemon ended", sourceLocation: location)
    #expect(try await curl("/healthz").status == 200, sourceLocation: location)
  }
}
