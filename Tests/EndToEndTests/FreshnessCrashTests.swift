import Foundation
import TestSupport
import Testing

/// Kills between the steps of a landing: the file, its name and what is known of it stay consistent.
@Suite("a kill while a file lands", .timeLimit(.minutes(5))) struct FreshnessCrashTests {
  /// The call before which the daemon is killed.
  enum Step: String, CaseIterable, CustomTestStringConvertible {
    case record = "at the commit that announces the rename"
    case rename = "before the rename"
    case directorySync = "after the rename, before the directory is synced"
    case settlement = "after the rename, at the commit of the completion"
    var testDescription: String { rawValue }
  }

  /// A file of the group's size, and one that is resumed alone.
  static let sizes: [Int64] = [4096, 3 << 20]

  private static func interception(_ daemon: Daemon, _ step: Step) async throws -> Interception {
    switch step {
    case .record:
      try await Interception(
        daemon, calls: "fdatasync,fsync", paths: [daemon.statePath("transferd.db-wal")], doing: "signal=KILL")
    case .rename:
      try await Interception(
        daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads], doing: "signal=KILL")
    case .directorySync, .settlement:
      try await Interception(
        daemon, calls: "fsync", paths: [daemon.downloads], doing: step == .settlement ? "signal=STOP" : "signal=KILL")
    }
  }

  /// Kills the daemon at a step of the landing that `proceed` begins, and starts it again.
  private static func kill(_ daemon: Daemon, at step: Step, _ proceed: Gate) async throws {
    let trap = try await interception(daemon, step)
    proceed.open()
    if step == .settlement {
      try await trap.waitForKillAtNextCommit(daemon)
    } else {
      try await trap.waitForHit(daemon)
    }
    try await daemon.start()
  }

  @Test(
    "--if-changed: the new version gets its name once, and the next run knows it", arguments: Step.allCases, sizes)
  func ifChanged(_ step: Step, _ size: Int64) async throws {
    let (old, new) = (Payload(size: 5_000), Payload(size: size, seed: 2))
    let proceed = Gate()
    let file = FileBehaviour.file(old).becoming(new, on: .after(1))
      .answering(on: .at(1)) { answer, _ in answer.prelude += [.waitFor(proceed)] }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    _ = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    let id = try await daemon.add(server.url("/a"), "--if-changed")
    try await server.waitForRequests(2)
    try await Self.kill(daemon, at: step, proceed)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == new.sha256)
    #expect(try daemon.fileNames == ["a"])
    let again = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    #expect(again.status == 0 && again.stderr.contains("1 unchanged"), "\(again.stderr)")
    #expect(server.requests.last?.headers["If-None-Match"] == "\"\(new.name)\"")
  }

  @Test("--if-exists rename: recovery finds the file under the name that it got", arguments: Step.allCases, sizes)
  func rename(_ step: Step, _ size: Int64) async throws {
    let payload = Payload(size: size, seed: 2)
    let proceed = Gate()
    let server = try LoopbackServer(
      FileBehaviour.file(payload).answering(on: .at(0)) { answer, _ in answer.prelude += [.waitFor(proceed)] })
    let daemon = try await Daemon()
    for name in ["a.txt", "a.1.txt"] {
      try Payload(size: 10).write(to: daemon.downloaded(name))
    }
    let id = try await daemon.add(server.url("/a.txt"), "--if-exists", "rename")
    try await server.waitForRequests()
    try await Self.kill(daemon, at: step, proceed)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.destination == daemon.downloaded("a.2.txt"), "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a.2.txt")) == payload.sha256)
    #expect(try Set(daemon.fileNames) == ["a.txt", "a.1.txt", "a.2.txt"])
    let shown = try await daemon.ctl("show", id).stdout
    #expect(shown.contains(daemon.downloaded("a.2.txt")) && shown.contains("transferred"))
  }

  @Test("the time that a record has is synced before the rename: fdatasync(2) may leave it out")
  func syncedTime() async throws {
    let payload = Payload(size: 3 << 20, seed: 2)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      FileBehaviour.file(payload).holding(after: payload.size - 1000, reached: reached, until: proceed))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "--if-changed", "--remote-time")
    try await reached.wait()
    try await eventually("the part file") { try !daemon.partNames.isEmpty }
    let part = daemon.downloaded(try #require(try daemon.partNames.first))
    let trap = try await Interception(daemon, calls: "fsync", paths: [part], doing: "signal=KILL")
    proceed.open()
    try await trap.waitForHit(daemon)
    try await daemon.start()
    #expect(try await daemon.finished(id).result == "transferred")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == payload.sha256)
    let again = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    #expect(again.stderr.contains("1 unchanged"), "\(again.stderr)")
  }

  @Test("a version that was begun and then lost to a kill leaves the old file and its record")
  func lostVersion() async throws {
    let (old, new) = (Payload(size: 5_000), Payload(size: 6_000, seed: 2))
    let proceed = Gate()
    // The new version is served once; then the server has the old one again.
    let file = FileBehaviour.file(old).becoming(new, on: .at(1))
      .answering(on: .at(1)) { answer, _ in answer.prelude += [.waitFor(proceed)] }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    _ = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    let id = try await daemon.add(server.url("/a"), "--if-changed")
    try await server.waitForRequests(2)
    try await Self.kill(daemon, at: .rename, proceed)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.result == "unchanged", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == old.sha256)
    #expect(try daemon.fileNames == ["a"])
  }
}
