import Foundation
import TestSupport
import Testing

/// A printed id belongs to a durable job.
@Suite("a printed id", .timeLimit(.minutes(5))) struct PrintedIDTests {
  @Test("a printed id exists after a kill at the moment its line is read")
  func single() async throws {
    let daemon = try await Daemon()
    var printed: Set<String> = []
    for round in 0..<12 {
      let add = try daemon.ctlStarted("add", "http://127.0.0.1:9/file\(round)", "--paused")
      try await add.waitForOutput("\n")
      try await daemon.kill9()
      printed.formUnion(try await add.result().lines)
      try await daemon.start()
    }
    #expect(printed.count == 12)
    #expect(try await daemon.storedIDs() == printed)
  }

  @Test("each printed id exists after a kill in the middle of a bulk add")
  func bulk() async throws {
    let daemon = try await Daemon()
    var printed: Set<String> = []
    for round in 0..<4 {
      // Three groups of a thousand, so that the kill comes while lines are still being sent.
      let list = (0..<3000).map { "http://127.0.0.1:9/\(round)/file\(round)-\($0)\n" }.joined()
      var launch = try daemon.ctlLaunch(["add", "-i", "-", "--paused"])
      launch.input = Data(list.utf8)
      let add = try ChildProcess(launch)
      try await add.waitForOutput("\n")
      try await daemon.kill9()
      let lines = try await add.result().lines
      #expect(lines.count >= 1)
      printed.formUnion(lines)
      try await daemon.start()
      let stored = try await daemon.storedIDs()
      #expect(printed.subtracting(stored).isEmpty)
    }
  }

  @Test("no id is printed if the daemon is killed at the commit")
  func killedAtCommit() async throws {
    let daemon = try await Daemon()
    let trap = try await Interception(
      daemon, calls: "fdatasync,fsync", paths: [daemon.statePath("transferd.db-wal")], doing: "signal=KILL")
    let add = try await daemon.ctl("add", "http://127.0.0.1:9/file", "--paused")
    try await trap.waitForHit(daemon)
    #expect(add.status == 3)
    #expect(add.stdout.isEmpty)
    try await daemon.start()
    #expect(try await daemon.ctl("status").status == 0)
  }
}
