import Foundation
import Glibc
import TestSupport
import Testing

/// `--part-dir`.
@Suite("part directory", .timeLimit(.minutes(5))) struct PartDirectoryTests {
  /// A daemon and a directory for part files, optionally on another file system than the destination.
  private final class Scene: Sendable {
    let daemon: Daemon
    let parts: String

    init(acrossFileSystems: Bool) async throws {
      daemon = try await Daemon()
      if acrossFileSystems {
        // A separate file system.
        parts = "/dev/shm/td-parts-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: parts, withIntermediateDirectories: false)
      } else {
        parts = try daemon.directory.directory("parts")
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: parts) }

    var partNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: parts).sorted()) ?? [] }

    /// What stands at the destination's directory.
    var names: [String] { get throws { try daemon.directory.names(in: "downloads") } }

    func waitForPart(holding bytes: Int64) async throws {
      try await eventually("the part file to have \(bytes) bytes") {
        let name = self.partNames.first { !$0.hasSuffix(".map") }
        return name.map { FileManager.default.contents(atPath: self.parts + "/" + $0)?.count ?? 0 } == Int(bytes)
      }
    }
  }

  @Test(
    "the part file stands there, resumes there after a kill, and leaves nothing", arguments: [false, true], [1, 4])
  func resumes(acrossFileSystems: Bool, segments: Int) async throws {
    let payload = Payload(size: 8 << 20, seed: 3)
    // Every connection is held, so that none fetches the rest of another one.
    let proceed = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 1 << 20, until: proceed, on: .always))
    let scene = try await Scene(acrossFileSystems: acrossFileSystems)
    let daemon = scene.daemon
    let id = try await daemon.add(
      server.url("/a"), "-o", "a", "--part-dir", scene.parts, "--segments", "\(segments)", "--checksum",
      "sha-256=\(payload.sha256)", "--mode", "0640")
    try await eventually("a part file") { scene.partNames.contains { $0.hasSuffix(".part") } }
    #expect(try scene.names.isEmpty)
    try await daemon.kill9()
    #expect(scene.partNames.contains { $0.hasSuffix(".part") })
    proceed.open()
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(scene.partNames.isEmpty)
    #expect(try scene.names == ["a"])
    var status = stat()
    #expect(stat(daemon.downloaded("a"), &status) == 0 && status.st_mode & 0o777 == 0o640)
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["partDir"] as? String == scene.parts)
  }

  @Test("small files, names of the response and lists use it, too", arguments: [false, true])
  func small(acrossFileSystems: Bool) async throws {
    let payload = Payload(size: 50_000, seed: 4)
    let server = try LoopbackServer(
      .file(payload).contentDisposition("attachment; filename=\"given.bin\""))
    let scene = try await Scene(acrossFileSystems: acrossFileSystems)
    let daemon = scene.daemon
    let named = try await daemon.ctl(
      "add", server.url("/x?id=1"), "-J", "-d", daemon.downloads, "--part-dir", scene.parts, "--wait")
    #expect(named.status == 0, "\(named.stderr)")
    let list = (0..<5).map { server.url("/f\($0)") }.joined(separator: "\n")
    let added = try await daemon.run(
      ["add", "-i", "-", "-d", daemon.downloads, "--part-dir", scene.parts, "--wait"], input: Data(list.utf8))
    #expect(added.status == 0, "\(added.stderr)")
    #expect(try scene.names == ["f0", "f1", "f2", "f3", "f4", "given.bin"])
    for name in try scene.names { #expect(try sha256(ofFile: daemon.downloaded(name)) == payload.sha256) }
    #expect(scene.partNames.isEmpty)
  }

  /// The point of a kill on the way from the other file system.
  enum Point: String, CaseIterable, CustomTestStringConvertible {
    case copying = "while the copy is written"
    case syncing = "before the copy is synced"
    case announcing = "at the commit that announces the second rename"
    case beforeRename = "before the copy is renamed"
    case afterRename = "before the directory is synced"
    case settling = "at the commit of the completion"
    var testDescription: String { rawValue }
  }

  @Test(
    "a kill at any step from another file system leaves one right file and no other", arguments: Point.allCases,
    [false, true])
  func kill(_ point: Point, isReplacing: Bool) async throws {
    let payload = Payload(size: 3 << 20, seed: 7)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      FileBehaviour.file(payload).holding(after: payload.size - 1000, reached: reached, until: proceed))
    let scene = try await Scene(acrossFileSystems: true)
    let daemon = scene.daemon
    if isReplacing { try Payload(size: 5000, seed: 99).write(to: daemon.downloaded("a")) }
    let id = try await daemon.addJob(
      [server.url("/a"), "-o", "a", "--part-dir", scene.parts] + (isReplacing ? ["--replace"] : []))
    try await reached.wait()
    try await scene.waitForPart(holding: payload.size - 1000)
    let part = try #require(scene.partNames.first { $0.hasSuffix(".part") })
    let (draft, log) = (daemon.downloaded(part), daemon.statePath("transferd.db-wal"))
    func trap(_ calls: String, _ paths: [String], _ action: String = "signal=KILL") async throws -> Interception {
      try await Interception(daemon, calls: calls, paths: paths, doing: action)
    }
    /// Stops the daemon at one call, and kills it at the next of another kind.
    func twoSteps(_ first: (String, [String]), _ second: (String, [String])) async throws {
      let stop = try await trap(first.0, first.1, "signal=STOP")
      proceed.open()
      try await stop.waitForStop()
      try await stop.detach()
      let last = try await trap(second.0, second.1)
      daemon.signal(SIGCONT)
      try await last.waitForHit(daemon)
    }
    let (sync, names) = ("fdatasync,fsync", "rename,renameat,renameat2")
    switch point {
    case .copying:
      let kill = try await trap("pwrite64", [draft])
      proceed.open()
      try await kill.waitForHit(daemon)
    case .syncing:
      let kill = try await trap(sync, [draft])
      proceed.open()
      try await kill.waitForHit(daemon)
    case .announcing: try await twoSteps((sync, [draft]), (sync, [log]))
    case .beforeRename: try await twoSteps((sync, [draft]), (names, [daemon.downloads]))
    case .afterRename:
      let kill = try await trap(sync, [daemon.downloads])
      proceed.open()
      try await kill.waitForHit(daemon)
    case .settling: try await twoSteps((sync, [daemon.downloads]), (sync, [log]))
    }
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    try await eventually("the part file to be gone") { scene.partNames.isEmpty }
    #expect(try scene.names == ["a"])
    try await daemon.restart()
    #expect(try await daemon.job(id).state == "completed")
  }

  @Test("cancel and remove delete the part file and the map of its segments", arguments: ["cancel", "remove"])
  func withdrawn(_ verb: String) async throws {
    let server = try LoopbackServer(.file(size: 8 << 20).holding(after: 3 << 20, until: Gate()))
    let scene = try await Scene(acrossFileSystems: false)
    let id = try await scene.daemon.add(
      server.url("/a"), "-o", "a", "--part-dir", scene.parts, "--segments", "2")
    try await eventually("the part file") { !scene.partNames.isEmpty }
    #expect(try await scene.daemon.ctl(verb, id).status == 0)
    try await eventually("the part file to be gone") { scene.partNames.isEmpty }
    #expect(try scene.names.isEmpty)
  }

  @Test("a directory that does not exist is refused, and a relative one is below the current directory")
  func wrong() async throws {
    let daemon = try await Daemon()
    for (path, status) in [(daemon.directory.path("none"), Int32(73)), ("", 64)] {
      let result = try await daemon.run(
        ["add", "http://127.0.0.1:9/a", "-d", daemon.downloads, "--create-dirs", "--part-dir", path])
      #expect(result.status == status, "\(path): \(result.stderr)")
    }
    let upload = try await daemon.run(
      ["upload", try daemon.source("s", Payload(size: 1)), "--to", "http://127.0.0.1:9/a", "--part-dir", "/tmp"])
    #expect(upload.status == 64)
    #expect(try await daemon.jobs().isEmpty)
  }
}
