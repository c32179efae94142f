import Foundation
import Glibc
import TestSupport
import Testing

/// `add --on-success move=DIR`.
@Suite("moving downloads", .timeLimit(.minutes(5))) struct DownloadMoveTests {
  @Test("a completed file is moved, alone, in a list, with a name of the response and to another file system")
  func moves() async throws {
    let payload = Payload(size: 40_000, seed: 5)
    let server = try LoopbackServer(.file(payload).contentDisposition("attachment; filename=\"given.bin\""))
    let daemon = try await Daemon()
    let sent = try daemon.directory.directory("sent")
    let other = "/dev/shm/td-move-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: other) }
    func add(_ arguments: String...) async throws {
      let result = try await daemon.run(["add", "-d", daemon.downloads, "--wait"] + arguments)
      #expect(result.status == 0, "\(result.stderr)")
    }
    try await add(server.url("/a"), "--on-success", "move=\(sent)")
    try await add(server.url("/b"), server.url("/c"), "--on-success", "move=\(sent)")
    try await add(server.url("/x?id=1"), "-J", "--on-success", "move=\(sent)")
    try await add(server.url("/d"), "--on-success", "move=\(other)")
    try await eventually("all files to be moved") {
      try daemon.directory.names(in: "sent") == ["a", "b", "c", "given.bin"]
        && FileManager.default.contentsOfDirectory(atPath: other) == ["d"]
    }
    #expect(try daemon.fileNames.isEmpty)
    #expect(try sha256(ofFile: sent + "/a") == payload.sha256 && sha256(ofFile: other + "/d") == payload.sha256)
    try await daemon.waitForHistory("moved", of: "1")
    let job = try await daemon.curl("/v1/jobs/1").json
    #expect((job["action"] as? [String: Any])?["state"] as? String == "done")
    #expect((job["options"] as? [String: Any])?["onSuccess"] as? String == "move=\(sent)")
    #expect(try await daemon.ctl("show", "1").stdout.contains("move=\(sent)"))
  }

  /// The point at which the daemon is killed.
  enum Point: String, CaseIterable, CustomTestStringConvertible {
    case landed = "after the file got its name"
    case completing = "at the commit of the completion"
    case moving = "before the file is moved"
    case synchronizing = "before the directory is synced"
    var testDescription: String { rawValue }
  }

  @Test("the file is moved once, wherever the daemon is killed", arguments: Point.allCases)
  func killed(_ point: Point) async throws {
    let payload = Payload(size: 2 << 20, seed: 6)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      FileBehaviour.file(payload).holding(after: payload.size - 1000, reached: reached, until: proceed))
    let daemon = try await Daemon()
    let sent = try daemon.directory.directory("sent")
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--on-success", "move=\(sent)")
    try await reached.wait()
    try await daemon.waitForParts(holding: payload.size - 1000)
    let sync = "fdatasync,fsync"
    switch point {
    case .landed:
      let trap = try await Interception(daemon, calls: sync, paths: [daemon.downloads], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
    case .completing:
      let stop = try await Interception(daemon, calls: sync, paths: [daemon.downloads], doing: "signal=STOP")
      proceed.open()
      try await stop.waitForKillAtNextCommit(daemon)
    case .moving:
      let trap = try await Interception(
        daemon, calls: "rename,renameat,renameat2", paths: [sent], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
    case .synchronizing:
      let trap = try await Interception(daemon, calls: "fsync", paths: [sent], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
    }
    try await daemon.start()
    #expect(try await daemon.finished(id).state == "completed")
    try await eventually("the file to be moved") { try daemon.directory.names(in: "sent") == ["a"] }
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
    #expect(try sha256(ofFile: sent + "/a") == payload.sha256)
    try await daemon.waitForHistory("moved", of: id)
  }

  @Test("a file that was skipped stays, and so does one whose directory is the target")
  func stays() async throws {
    let server = try LoopbackServer(.file(size: 100))
    let daemon = try await Daemon()
    let sent = try daemon.directory.directory("sent")
    try Data("old".utf8).write(to: URL(fileURLWithPath: daemon.downloaded("a")))
    let skipped = try await daemon.ctl(
      "add", server.url("/a"), "-d", daemon.downloads, "--if-exists", "skip", "--on-success", "move=\(sent)", "--wait")
    #expect(skipped.status == 0, "\(skipped.stderr)")
    #expect(try daemon.fileNames == ["a"])
    let here = try await daemon.add(
      server.url("/b"), "-o", "b", "--on-success", "move=\(daemon.downloads)")
    #expect(try await daemon.finished(here).state == "completed")
    try await daemon.waitForHistory("it is in", of: here)
    #expect(try daemon.fileNames == ["a", "b"])
  }

  @Test("mistakes are named before a job exists")
  func mistakes() async throws {
    let daemon = try await Daemon()
    let sent = try daemon.directory.directory("sent")
    let table: [([String], Int32)] = [
      (["--on-success", "delete"], 64), (["--on-success", "move="], 64), (["--on-success", "shred"], 64),
      (["--on-success", "move=\(sent)", "--if-changed"], 64),
      (["--on-success", "move=\(daemon.directory.path("none"))"], 73),
    ]
    for (options, status) in table {
      let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads] + options)
      #expect(result.status == status && !result.stderr.isEmpty, "\(options): \(result.status) \(result.stderr)")
    }
    let missing = #"{"source":"http://h/","directory":"\#(daemon.downloads)","onSuccess":"move=/none/at/all"}"#
    #expect(try await daemon.curl("/v1/jobs", "-d", missing).status == 422)
    let delete = #"{"source":"http://h/","directory":"\#(daemon.downloads)","onSuccess":"delete"}"#
    #expect(try await daemon.curl("/v1/jobs", "-d", delete).status == 400)
    #expect(try await daemon.jobs().isEmpty)
  }
}
