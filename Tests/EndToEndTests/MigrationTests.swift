import Foundation
import Glibc
import TestSupport
import Testing

/// Databases of earlier releases, and a daemon that is killed at each of its writes while it opens one.
///
/// Tests/Fixtures/databases has a database of every released schema, made by scripts/make-database-fixture.sh. All of
/// them must open for ever.
@Suite("the database of an earlier release", .timeLimit(.minutes(15))) struct MigrationTests {
  /// The stored databases, and a missing one.
  struct Origin: CustomTestStringConvertible, Sendable {
    /// `nil`: a first start.
    var fixture: String?
    /// Whether the database has the WAL of a killed daemon.
    var isCut = false
    var testDescription: String { (fixture ?? "none") + (isCut ? ", its daemon was killed" : "") }

    static var fixtures: [Origin] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      let inOrder = names.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
      return inOrder.flatMap { [Origin(fixture: $0), Origin(fixture: $0, isCut: true)] }
    }
    /// What a daemon is killed with: the oldest release, whose migration has every step; version 3, the last one before the
    /// table of the jobs was replaced; the newest release; and the WAL of the oldest and the newest one. SQLite reads a WAL
    /// before any migration, in the same way for every release.
    static var killed: [Origin] {
      let releases = fixtures.filter { !$0.isCut }
      let ends = [releases.first, releases.last].compactMap { $0 }
      let rebuilt = releases.filter { $0.fixture == "version-3" }
      return [Origin()] + ends + rebuilt + ends.map { Origin(fixture: $0.fixture, isCut: true) }
    }

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/databases").path

    /// A daemon with a copy of this database, not started.
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

    /// The stored jobs. The one with the key `interrupted` was running when the daemon was killed.
    var jobs: [Daemon.StatusJob] {
      get throws {
        guard let fixture else { return [] }
        let text = try String(contentsOfFile: "\(Self.directory)/\(fixture)/jobs.jsonl", encoding: .utf8)
        return try text.split(separator: "\n").map {
          try JSONDecoder().decode(Daemon.StatusJob.self, from: Data($0.utf8))
        }
      }
    }

    /// Checks that every job is unchanged and the daemon works. Asks the daemon by curl, which starts faster than
    /// transferctl: these checks run after more than a thousand kills.
    func expectWhole(_ daemon: Daemon, after point: String, _ location: SourceLocation = #_sourceLocation) async throws
    {
      let expected = try jobs
      let page = try await daemon.curl("/v1/jobs?limit=1000")
      let found = try JSONDecoder().decode(Page.self, from: Data(page.body.utf8)).jobs
      #expect(found.map(\.id) == expected.map(\.id), "\(point)", sourceLocation: location)
      for (old, new) in zip(expected, found) {
        let isSame =
          old.source == new.source && old.destination == new.destination && old.batch == new.batch
          && old.key == new.key && old.priority == new.priority && old.checksum == new.checksum
          && old.createdAt == new.createdAt && old.maxAttempts == new.maxAttempts
        #expect(isSame, "\(point): \(new)", sourceLocation: location)
        if isCut, new.key == "interrupted" {
          // It continues by itself; its directory does not exist on this machine.
          #expect(["queued", "running", "failed"].contains(new.state), "\(point): \(new)", sourceLocation: location)
        } else {
          #expect(old.state == new.state && old.bytesDone == new.bytesDone, "\(point)", sourceLocation: location)
          #expect(
            old.error?.code == new.error?.code && old.finishedAt == new.finishedAt, "\(point)",
            sourceLocation: location)
        }
      }
      let body = #"{"url":"http://127.0.0.1:9/new","destination":"\#(daemon.downloads)/new","paused":true}"#
      let added = try await daemon.curl("/v1/jobs", "-d", body).json["id"] as? Int64
      // New ids follow all earlier ones, even those of removed jobs.
      #expect(added == (expected.last?.id ?? 0) + 1, "\(point)", sourceLocation: location)
    }
  }

  /// A response of `GET /v1/jobs`.
  private struct Page: Decodable {
    let jobs: [Daemon.StatusJob]
  }

  @Test("there is a database of every released schema")
  func fixtures() {
    // Versions 9 and 10 came together with 11.
    #expect(Set(Origin.fixtures.map(\.fixture)) == Set((1...8).map { "version-\($0)" } + ["version-11"]))
  }

  @Test("a stored database opens with all its jobs, their secrets and their history", arguments: Origin.fixtures)
  func opens(_ origin: Origin) async throws {
    let daemon = try await origin.daemon()
    try await daemon.start()
    try await origin.expectWhole(daemon, after: "the start")
    let history = try await daemon.ctl("events", "--format", "json").lines
    // One job was removed before the database was stored, and one was just added.
    let added = try origin.jobs.count + 2
    #expect(history.count { $0.contains("\"kind\":\"added\"") } == added && history[0].contains("\"seq\":1,"))
    #expect(history.contains { $0.contains("\"kind\":\"removed\"") && $0.contains("\"job\":5,") })
    let shown = try await daemon.curl("/v1/jobs/2").json["options"] as? [String: Any]
    #expect(shown?["secretHeaders"] as? [String] == ["Authorization"] && shown?["hasCredentials"] as? Bool == true)
    #expect((shown?["headers"] as? [String: String]) == ["X-Trace": "1"] && shown?["limitRate"] as? Int == 1 << 20)
    #expect(try await daemon.curl("/v1/jobs/1").body.contains("\"outcome\":\"completed\""))
    #expect(try await daemon.curl("/v1/batches/nightly").json["bytesTotal"] as? Int == 10)
    // The key returns its job.
    let again = try await daemon.ctl("add", "http://127.0.0.1:9/other", "--key", "k-1")
    #expect(again.lines == ["2"])
    try await daemon.restart()
    #expect(try await daemon.jobs().count == (try origin.jobs.count) + 1)
  }

  @Test(
    "a kill at any write of the first start loses nothing: the next start opens the database", arguments: Origin.killed)
  func killed(_ origin: Origin) async throws {
    let points = WriteCall.killPoints(in: try await Self.writes(of: origin))
    let room = try TemporaryDirectory()
    let killer = try await CompiledC.preload(WriteCall.killer, in: room)
    var kills = 0
    for point in points {
      let daemon = try await origin.daemon()
      // A thread's writes may be fewer this time: the times of checkpoints differ.
      guard try await Self.kill(daemon, at: point, by: killer) else { continue }
      kills += 1
      try await daemon.start()
      try await origin.expectWhole(daemon, after: "kill at \(point)")
      try await daemon.kill9()
    }
    // A first start writes the whole schema; any other start writes at least that the database is open.
    #expect(kills >= (origin.fixture == nil ? 10 : 2) && kills > points.count / 2, "\(kills) of \(points.count)")
  }

  /// The writes of a start to the database and the files that become it.
  private static func writes(of origin: Origin) async throws -> [WriteCall] {
    let daemon = try await origin.daemon()
    let log = daemon.statePath("trace")
    // -D makes the daemon our child, and strace its child.
    let strace =
      [try BuiltPrograms.system("strace"), "-D", "-f", "-y", "-s", "0", "-o", log, "-e", "trace=\(WriteCall.names)"]
      + paths(daemon).flatMap { ["-P", $0] }
    try daemon.launch(through: strace)
    try await daemon.waitUntilReady()
    try await daemon.kill9()
    return WriteCall.parse(try String(contentsOfFile: log, encoding: .utf8))
  }

  /// Starts the daemon and kills it at a write.
  /// - Returns: `false` if the daemon was ready before that write.
  private static func kill(_ daemon: Daemon, at point: WriteCall, by killer: CompiledC) async throws -> Bool {
    let process = try daemon.launch(environment: [
      "LD_PRELOAD": killer.path, "KILL_CALL": point.name, "KILL_ORDINAL": "\(point.ordinal)",
      "KILL_PATHS": paths(daemon).joined(separator: ":"),
    ])
    do {
      try await daemon.waitUntilReady()
    } catch {
      guard (try? await process.waitForEnd(timeout: .seconds(30))) == .signal(SIGKILL) else { throw error }
      return true
    }
    try await daemon.kill9()
    return false
  }

  /// The paths whose writes count.
  private static func paths(_ daemon: Daemon) -> [String] {
    let database = daemon.statePath("transferd.db")
    return [daemon.stateDirectory]
      + ["", "-wal", "-shm", "-journal", ".new", ".new-wal", ".new-journal"].map { database + $0 }
  }
}
