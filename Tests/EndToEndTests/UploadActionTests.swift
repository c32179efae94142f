import Foundation
import Glibc
import TestSupport
import Testing

/// The action on a file runs once after the server has the file.
@Suite("on-success", .timeLimit(.minutes(5))) struct UploadActionTests {
  /// The point at which the daemon is killed.
  enum Point: String, CaseIterable, CustomTestStringConvertible {
    case completing = "at the commit of the completion"
    case touching = "before the file is renamed"
    case synchronizing = "before the directory is synced"
    case telling = "at the commit of the finished action"
    var testDescription: String { rawValue }
  }

  @Test("the action runs once, wherever the daemon is killed", arguments: Point.allCases, ["move", "delete"])
  func killed(_ point: Point, _ action: String) async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(bodies: .byScript) { request in
      guard request.method == "PUT" else { return .response(404) }
      return [
        .readBody(), .signal(reached), .waitFor(proceed), .status(201, headers: ["Content-Length": "0"]), .keepAlive,
      ]
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 100_000)
    let path = try daemon.source("a.csv", payload)
    let (out, sent) = (daemon.directory.path("out"), try daemon.directory.directory("sent"))
    let id = try await daemon.upload(
      path, "--to", server.url("/a"), "--protocol", "plain", "--on-success",
      action == "move" ? "move=\(sent)" : "delete")
    try await reached.wait()
    let log = daemon.statePath("transferd.db-wal")
    let names = "rename,renameat,renameat2"
    switch point {
    case .completing:
      let trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [log], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
      #expect(FileManager.default.fileExists(atPath: path))
    case .touching:
      let trap = try await Interception(daemon, calls: names, paths: [out, sent, path], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
    case .synchronizing:
      let trap = try await Interception(daemon, calls: "fsync", paths: [out, sent], doing: "signal=KILL")
      proceed.open()
      try await trap.waitForHit(daemon)
    case .telling:
      let trap = try await Interception(daemon, calls: "fsync", paths: [out, sent], doing: "signal=STOP")
      proceed.open()
      try await trap.waitForKillAtNextCommit(daemon)
    }
    try await daemon.start()
    #expect(try await daemon.finished(id).state == "completed")
    try await daemon.waitForHistory(action == "move" ? "moved" : "delete", of: id)
    try await eventually("the file to be gone") { try daemon.directory.names(in: "out").isEmpty }
    #expect(try daemon.directory.names(in: "sent") == (action == "move" ? ["a.csv"] : []))
    if action == "move" { #expect(try sha256(ofFile: sent + "/a.csv") == payload.sha256) }
    // Only a kill before the durable row may cost another request: the next daemon reads the committed WAL.
    #expect(server.requests.count { $0.method == "PUT" } <= (point == .completing ? 2 : 1))
  }

  @Test("a file that the server refused is kept")
  func refused() async throws {
    let server = try LoopbackServer { _ in .response(403) }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 10))
    #expect(
      try await daemon.ctl("upload", path, "--to", server.url("/a"), "--on-success", "delete", "--wait").status == 1)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("a file that changed after its upload is kept, which is reported")
  func changed() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.readBody(), .signal(reached), .waitFor(proceed), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 10))
    let id = try await daemon.upload(path, "--to", server.url("/a"), "--protocol", "plain", "--on-success", "delete")
    try await reached.wait()
    // The daemon is stopped at the commit that completes the job; the file changes before its action.
    let trap = try await Interception(
      daemon, calls: "fdatasync,fsync", paths: [daemon.statePath("transferd.db-wal")], doing: "signal=STOP")
    proceed.open()
    try await trap.waitForStop()
    try Data("a new version".utf8).write(to: URL(fileURLWithPath: path))
    try await trap.detach()
    daemon.signal(SIGCONT)
    try await daemon.waitForHistory("changed after it was uploaded", of: id)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a new version")
    #expect(try await daemon.job(id).state == "completed")
    let waited = try await daemon.ctl("wait", id)
    #expect(waited.status == 0 && waited.stderr.contains("changed after it was uploaded"))
  }

  @Test("a failed move is repeated when the same key is added again")
  func again() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 10))
    let sent = try daemon.directory.directory("sent")
    for name in ["a", "a.job-1"] { try daemon.directory.file("sent/" + name, text: "old") }
    let arguments = [
      "upload", path, "--to", nginx.url("/a"), "--key", "{path}:{mtime}", "--on-success", "move=\(sent)", "--wait",
    ]
    let first = try await daemon.run(arguments)
    // Once: it was printed again at the end.
    #expect(first.status == 0 && first.stderr.components(separatedBy: "exist there").count == 2, "\(first.stderr)")
    try FileManager.default.removeItem(atPath: sent + "/a")
    #expect(try await daemon.run(arguments).status == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
    try await nginx.stop()
    #expect(nginx.targets("PUT") == ["/a"])
  }
}
