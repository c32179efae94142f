import Foundation
import TestSupport
import Testing

/// 64 small files arrive together, and something goes wrong in a step of their landing.
@Suite("a group of small files", .timeLimit(.minutes(5))) struct GroupCrashTests {
  static let count = 64
  static let payload = Payload(size: 4096, seed: 5)

  /// The system call at which the daemon is killed, before the call.
  enum Step: String, CaseIterable, CustomTestStringConvertible {
    case firstFile = "before the first part file is made"
    case someFile = "when some part files are made"
    case someBytes = "when some part files have their bytes"
    case sync = "before the bytes are synced to disk"
    case record = "at the commit that announces the renames"
    case firstRename = "before the first rename"
    case someRename = "when some files have their names"
    case directorySync = "when all files have their names, before the directory is synced"
    case settlement = "at the commit of the completion"

    var testDescription: String { rawValue }
  }

  @Test(
    "a kill at any step of the landing: all files are right, and each is fetched at most twice",
    arguments: Step.allCases)
  func kill(_ step: Step) async throws {
    let (daemon, server, proceed) = try await Self.waiting()
    let trap = try await Self.trap(daemon, step)
    proceed.open()
    if step == .settlement {
      // The daemon is stopped when the files have their names: the next commit completes the jobs.
      try await trap.waitForKillAtNextCommit(daemon)
    } else {
      try await trap.waitForHit(daemon)
    }
    try await daemon.start()
    try await Self.expectAllCompleted(daemon, server)
    // Files that have their names are not fetched again.
    if step == .settlement { #expect(server.requests.count < 2 * Self.count) }
  }

  @Test("a sync that fails costs the files of its group: they are fetched again", arguments: [EIO, ENOSPC])
  func failedSync(_ code: Int32) async throws {
    let (daemon, server, proceed) = try await Self.waiting()
    let trap = try await Interception(
      daemon, calls: "syncfs,fdatasync", paths: [daemon.downloads] + Self.parts(of: daemon),
      doing: "error=\(code == EIO ? "EIO" : "ENOSPC"):when=1")
    proceed.open()
    // strace(1) counts the calls of each thread: the first sync of every thread fails.
    try await Self.expectAllCompleted(daemon, server, fetches: 10)
    #expect(server.requests.count > Self.count)
    try await trap.detach()
  }

  // MARK: The scene

  /// A daemon with 64 running downloads whose responses wait for a gate.
  private static func waiting() async throws -> (Daemon, LoopbackServer, Gate) {
    let proceed = Gate()
    let file = FileBehaviour.file(payload)
      .answering(on: .first(count)) { answer, _ in answer.prelude += [.waitFor(proceed)] }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon("--max-active", "\(count)", "--max-per-origin", "\(count)")
    let list = (0..<count).map { server.url("/\($0)") + "\n" }.joined()
    _ = try await daemon.ctl("add", "-i", "-", "--batch", "group", input: Data(list.utf8))
    _ = try await server.waitForRequests(count)
    return (daemon, server, proceed)
  }

  /// - Parameter fetches: the most requests for one file.
  private static func expectAllCompleted(_ daemon: Daemon, _ server: LoopbackServer, fetches: Int = 2) async throws {
    let wait = try await daemon.ctl("wait", "--batch", "group", timeout: .seconds(120))
    #expect(wait.status == 0, "\(wait.stderr)")
    #expect(try Set(daemon.fileNames) == Set((0..<count).map(String.init)))
    #expect(try daemon.partNames.isEmpty)
    for number in 0..<count {
      #expect(try sha256(ofFile: daemon.downloaded("\(number)")) == payload.sha256)
    }
    let requests = Dictionary(grouping: server.requests, by: \.target).mapValues(\.count)
    #expect(requests.count == count && requests.values.allSatisfy { $0 <= fetches })
    #expect(try await daemon.completions() == Array(repeating: 1, count: count))
  }

  private static func trap(_ daemon: Daemon, _ step: Step) async throws -> Interception {
    let kill = "signal=KILL"
    switch step {
    case .firstFile, .someFile:
      return try await Interception(
        daemon, calls: "openat", paths: [daemon.downloads], doing: step == .firstFile ? kill : kill + ":when=9")
    case .someBytes:
      return try await Interception(
        daemon, calls: "pwrite64", paths: try await parts(of: daemon), doing: kill + ":when=5")
    case .sync:
      return try await Interception(
        daemon, calls: "syncfs,fdatasync", paths: [daemon.downloads] + parts(of: daemon), doing: kill)
    case .record:
      return try await Interception(
        daemon, calls: "fdatasync,fsync", paths: [daemon.statePath("transferd.db-wal")], doing: kill)
    case .firstRename, .someRename:
      return try await Interception(
        daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads],
        doing: step == .firstRename ? kill : kill + ":when=5")
    case .directorySync:
      return try await Interception(daemon, calls: "fsync", paths: [daemon.downloads], doing: kill)
    case .settlement:
      return try await Interception(daemon, calls: "fsync", paths: [daemon.downloads], doing: "signal=STOP")
    }
  }

  /// The paths that the part files of the jobs will have.
  private static func parts(of daemon: Daemon) async throws -> [String] {
    try await daemon.rows("SELECT destination, part_token FROM job").map { row in
      let name = (row[0] as NSString).lastPathComponent
      return daemon.downloaded(".\(name).\(row[1]).part")
    }
  }
}

extension Daemon {
  /// How often each job was completed, in the order of their ids.
  func completions() async throws -> [Int] {
    try await rows(
      "SELECT (SELECT count(*) FROM event WHERE event.job = job.id AND to_state = 'completed') FROM job ORDER BY id"
    ).compactMap { $0.first.flatMap { Int($0) } }
  }

  /// Reads the database, as texts.
  func rows(_ query: String) async throws -> [[String]] {
    let look = """
      import sqlite3, sys
      db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
      for row in db.execute(sys.argv[2]): print("\\t".join(str(value) for value in row))
      """
    return try await Launch(BuiltPrograms.system("python3"), ["-c", look, statePath("transferd.db"), query])
      .runSuccessfully().lines.map { $0.split(separator: "\t").map(String.init) }
  }
}
