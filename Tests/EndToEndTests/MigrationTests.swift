import Foundation
import Glibc
import TestSupport
import Testing

/// D1, E16: databases of earlier releases, and a daemon that is killed while it opens one, at each of its writes.
///
/// A database of every schema that was ever released is in Tests/Fixtures/databases; scripts/make-database-fixture.sh makes
/// them. They open for ever.
@Suite("the database of an earlier release", .timeLimit(.minutes(15))) struct MigrationTests {
  /// Stored databases, and one that is not there yet.
  struct Origin: CustomTestStringConvertible, Sendable {
    /// `nil`: a first start.
    var fixture: String?
    /// With the log that a killed daemon left behind.
    var isCut = false
    var testDescription: String { (fixture ?? "none") + (isCut ? ", its daemon was killed" : "") }

    static var fixtures: [Origin] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      return names.sorted().flatMap { [Origin(fixture: $0), Origin(fixture: $0, isCut: true)] }
    }
    static var all: [Origin] { [Origin()] + fixtures }

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/databases").path

    /// A daemon that has this database before it, not started.
    func daemon() async throws -> Daemon {
      let daemon = try await Daemon(isStarted: false)
      mkdir(daemon.stateDirectory, 0o700)
      guard let fixture else { return daemon }
      for name in ["transferd.db"] + (isCut ? ["transferd.db-wal"] : []) {
        try FileManager.default.copyItem(
          atPath: "\(Self.directory)/\(fixture)/\(name)", toPath: daemon.statePath(name))
        chmod(daemon.statePath(name), 0o600)
      }
      return daemon
    }

    /// The jobs as they were. The one with the key `interrupted` was running where the daemon was killed.
    var jobs: [Daemon.StatusJob] {
      get throws {
        guard let fixture else { return [] }
        let text = try String(contentsOfFile: "\(Self.directory)/\(fixture)/jobs.jsonl", encoding: .utf8)
        return try text.split(separator: "\n").map {
          try JSONDecoder().decode(Daemon.StatusJob.self, from: Data($0.utf8))
        }
      }
    }

    /// Every job is there as it was, and the daemon works.
    func expectWhole(_ daemon: Daemon, after point: String, _ location: SourceLocation = #_sourceLocation) async throws
    {
      let expected = try jobs
      let found = try await daemon.jobs()
      #expect(found.map(\.id) == expected.map(\.id), "\(point)", sourceLocation: location)
      for (old, new) in zip(expected, found) {
        let isSame =
          old.source == new.source && old.destination == new.destination && old.batch == new.batch
          && old.key == new.key && old.priority == new.priority && old.checksum == new.checksum
          && old.createdAt == new.createdAt && old.maxAttempts == new.maxAttempts
        #expect(isSame, "\(point): \(new)", sourceLocation: location)
        if isCut, new.key == "interrupted" {
          // It goes on by itself; its directory is not on this machine.
          #expect(["queued", "running", "failed"].contains(new.state), "\(point): \(new)", sourceLocation: location)
        } else {
          #expect(old.state == new.state && old.bytesDone == new.bytesDone, "\(point)", sourceLocation: location)
          #expect(
            old.error?.code == new.error?.code && old.finishedAt == new.finishedAt, "\(point)",
            sourceLocation: location)
        }
      }
      let added = try await daemon.add("http://127.0.0.1:9/new", "--paused")
      // Ids go on behind those that were ever given, the removed ones included.
      #expect(Int64(added) == (expected.last?.id ?? 0) + 1, "\(point)", sourceLocation: location)
    }
  }

  @Test("there is one of every released schema")
  func fixtures() {
    #expect(Set(Origin.fixtures.map(\.fixture)) == ["version-1", "version-2"])
  }

  @Test("opens with all its jobs, their secrets and their history", arguments: Origin.fixtures)
  func opens(_ origin: Origin) async throws {
    let daemon = try await origin.daemon()
    try await daemon.start()
    try await origin.expectWhole(daemon, after: "the start")
    let history = try await daemon.ctl("events", "--format", "json").lines
    // One was removed before the release ended, and one was added just now.
    let added = try origin.jobs.count + 2
    #expect(history.count { $0.contains("\"kind\":\"added\"") } == added && history[0].contains("\"seq\":1,"))
    #expect(history.contains { $0.contains("\"kind\":\"removed\"") && $0.contains("\"job\":5,") })
    let shown = try await daemon.curl("/v1/jobs/2").json["options"] as? [String: Any]
    #expect(shown?["secretHeaders"] as? [String] == ["Authorization"] && shown?["hasCredentials"] as? Bool == true)
    #expect((shown?["headers"] as? [String: String]) == ["X-Trace": "1"] && shown?["limitRate"] as? Int == 1 << 20)
    #expect(try await daemon.curl("/v1/jobs/1").body.contains("\"outcome\":\"completed\""))
    #expect(try await daemon.curl("/v1/batches/nightly").json["bytesTotal"] as? Int == 10)
    // The key answers the job that has it.
    let again = try await daemon.ctl("add", "http://127.0.0.1:9/other", "--key", "k-1")
    #expect(again.lines == ["2"])
    try await daemon.restart()
    #expect(try await daemon.jobs().count == (try origin.jobs.count) + 1)
  }

  @Test("a kill at any write of the opening loses nothing: the next start opens it", arguments: Origin.all)
  func killed(_ origin: Origin) async throws {
    var kills = 0
    for number in 1...500 {
      let daemon = try await origin.daemon()
      guard try await Self.kill(daemon, atWrite: number) else { break }
      kills += 1
      try await daemon.start()
      try await origin.expectWhole(daemon, after: "kill at write \(number)")
      try await daemon.kill9()
    }
    // A first start writes the whole schema, any other at least that the database is open.
    #expect(kills >= (origin.fixture == nil ? 10 : 2) && kills < 500, "\(kills)")
  }

  /// Starts the daemon and kills it at one of its writes to the database, or files that become it.
  /// - Returns: `false` where it was ready before it came to that write.
  private static func kill(_ daemon: Daemon, atWrite number: Int) async throws -> Bool {
    let calls = "write,pwrite64,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat"
    let database = daemon.statePath("transferd.db")
    let paths =
      [daemon.stateDirectory]
      + ["", "-wal", "-shm", "-journal", ".new", ".new-wal", ".new-journal"].map { database + $0 }
    // -D: the daemon is our child, strace its.
    let process = try daemon.launch(
      through: [
        try BuiltPrograms.system("strace"), "-D", "-f", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
        "inject=\(calls):signal=KILL:when=\(number)",
      ] + paths.flatMap { ["-P", $0] })
    do {
      try await daemon.waitUntilReady()
    } catch {
      // strace may know of its end before we do.
      guard (try? await process.waitForEnd(timeout: .seconds(30))) == .signal(SIGKILL) else { throw error }
      return true
    }
    try await daemon.kill9()
    return false
  }
}
