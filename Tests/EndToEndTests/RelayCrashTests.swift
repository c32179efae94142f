import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon that is killed between two steps of a relay continues it after the restart.
@Suite("a kill at an exact point of a relay", .timeLimit(.minutes(5))) struct RelayCrashTests {
  /// The point of the kill.
  enum Point: String, CaseIterable, CustomTestStringConvertible {
    case beforeRename = "before the copy gets its name"
    case afterRename = "after the rename, before the directory is synced to disk"
    case phase = "at the commit that begins the upload"
    case afterTarget = "after the target has the file, before it has answered"
    case deletion = "before the copy is deleted"

    var testDescription: String { rawValue }
  }

  @Test("the target gets the file once the row says so, and no copy is left", arguments: Point.allCases)
  func kill(_ point: Point) async throws {
    let payload = Payload(size: 3 << 20, seed: 7)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      FileBehaviour.file(payload).holding(after: payload.size - 1000, reached: reached, until: proceed))
    let (arrived, answer) = (Gate(), Gate())
    let holdsAnswer = point == .afterTarget || point == .deletion
    let target = try PutServer(reached: arrived, until: holdsAnswer ? answer : nil)
    let daemon = try await Daemon()
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"), "--protocol", "plain")
    try await reached.wait()
    try await daemon.waitForBytes(payload.size - 1000, of: id)
    let copy = daemon.statePath("relay/" + (try #require(daemon.copies.first)))
    let renames = "rename,renameat,renameat2"
    let trap: Interception?
    switch point {
    case .beforeRename: trap = try await Interception(daemon, calls: renames, paths: [copy], doing: "signal=KILL")
    case .afterRename:
      trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [copy], doing: "signal=KILL")
    case .phase: trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [copy], doing: "signal=STOP")
    case .afterTarget, .deletion: trap = nil
    }
    proceed.open()
    switch point {
    case .beforeRename, .afterRename: try await trap?.waitForHit(daemon)
    case .phase:
      try await trap?.waitForKillAtNextCommit(daemon)
    case .afterTarget:
      try await arrived.wait()
      try await daemon.kill9()
      answer.open()
    case .deletion:
      try await arrived.wait()
      let last = try await Interception(
        daemon, calls: "unlink,unlinkat", paths: [copy + "/a"], doing: "signal=KILL")
      answer.open()
      try await last.waitForHit(daemon)
    }
    #expect(daemon.copies.count == 1)
    let sent = target.puts.count
    try await daemon.start()
    if point == .deletion { #expect(daemon.copies.isEmpty) }
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.bytesTotal == payload.size, "\(job.error?.message ?? "")")
    #expect(target.holds("/in/a", payload))
    switch point {
    case .beforeRename, .afterRename, .phase:
      #expect(sent == 0 && target.puts.count == 1)
      // At most the bytes that are compared were asked for again.
      #expect(server.requests.dropFirst().allSatisfy { $0.start >= payload.size - 1000 - 64 << 10 })
    // A PUT cannot tell what the server has.
    case .afterTarget: #expect(sent == 1 && target.puts.count == 2 && server.requests.count == 1)
    case .deletion: #expect(sent == 1 && target.puts.count == 1 && server.requests.count == 1)
    }
    try await daemon.waitForNoCopies()
    try await daemon.restart()
    #expect(try await daemon.job(id).state == "completed")
  }
}
