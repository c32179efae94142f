import Foundation
import TestSupport
import Testing

/// A daemon that is killed between two steps of a download continues it after the restart.
@Suite("a kill at an exact point", .timeLimit(.minutes(5))) struct CrashPointTests {
  /// The point of the kill.
  enum Point: String, CaseIterable, CustomTestStringConvertible {
    case makingThePartFile = "while the part file is made"
    case firstRecord = "at the commit of the first record"
    case synchronizing = "before the bytes are synced to disk"
    case recordOfRename = "at the commit that announces the rename"
    case beforeRename = "before the rename"
    case afterRename = "after the rename, before the directory is synced"
    case settling = "at the commit of the completion"

    var testDescription: String { rawValue }
    /// Before the first byte of the body; otherwise before the last bytes.
    var isEarly: Bool { self == .makingThePartFile || self == .firstRecord }
  }

  @Test(
    "the download completes with the right bytes and leaves no other file", arguments: Point.allCases, [false, true])
  func kill(_ point: Point, isReplacing: Bool) async throws {
    let payload = Payload(size: 3 << 20, seed: 7)
    let (reached, proceed) = (Gate(), Gate())
    let file = FileBehaviour.file(payload)
    let server = try LoopbackServer(
      point.isEarly
        ? file.answering(on: .first(1)) { answer, _ in answer.prelude += [.signal(reached), .waitFor(proceed)] }
        // The rest is one write, so that no checkpoint can contain a part of it.
        : file.holding(after: payload.size - 1000, reached: reached, until: proceed))
    let daemon = try await Daemon()
    let old = Payload(size: 5000, seed: 99)
    if isReplacing { try old.write(to: daemon.downloaded("a")) }
    let id = try await daemon.addJob([server.url("/a"), "-o", "a"] + (isReplacing ? ["--replace"] : []))
    try await reached.wait()
    // The bytes are in the file only after the first record is committed.
    if !point.isEarly { try await daemon.waitForParts(holding: payload.size - 1000) }
    let trap = try await Self.trap(daemon, point)
    proceed.open()
    try await Self.spring(trap, daemon, point)
    // A running checkpoint may have triggered the kill before the last bytes arrived. Bytes without a checkpoint are
    // compared with the server's.
    var isWhole = try !point.isEarly && daemon.partNames.isEmpty
    if try !point.isEarly && daemon.partSize == payload.size {
      isWhole = try await daemon.checkpoint(of: id) == payload.size
    }
    let isRenamed = point == .afterRename || point == .settling
    #expect(try daemon.fileNames.contains("a") == (isRenamed || isReplacing))
    if isReplacing && !isRenamed { #expect(try sha256(ofFile: daemon.downloaded("a")) == old.sha256) }

    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.count == (isWhole ? 1 : 2))
    try await daemon.restart()
    #expect(try await daemon.job(id).state == "completed")
    #expect(server.requests.count == (isWhole ? 1 : 2))
  }

  private static func trap(_ daemon: Daemon, _ point: Point) async throws -> Interception {
    let log = daemon.statePath("transferd.db-wal")
    let sync = "fdatasync,fsync"
    switch point {
    case .makingThePartFile:
      return try await Interception(
        daemon, calls: "openat", paths: [daemon.downloads], doing: "signal=KILL")
    case .firstRecord, .recordOfRename:
      return try await Interception(daemon, calls: sync, paths: [log], doing: "signal=KILL")
    case .synchronizing:
      let part = daemon.downloaded(try #require(try daemon.partNames.first))
      return try await Interception(daemon, calls: sync, paths: [part], doing: "signal=KILL")
    case .beforeRename:
      return try await Interception(
        daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads], doing: "signal=KILL")
    case .afterRename:
      return try await Interception(daemon, calls: sync, paths: [daemon.downloads], doing: "signal=KILL")
    case .settling:
      return try await Interception(daemon, calls: sync, paths: [daemon.downloads], doing: "signal=STOP")
    }
  }

  private static func spring(_ trap: Interception, _ daemon: Daemon, _ point: Point) async throws {
    guard point == .settling else { return try await trap.waitForHit(daemon) }
    // The daemon is stopped after the rename: the next commit marks the job as completed.
    try await trap.waitForKillAtNextCommit(daemon)
  }
}
