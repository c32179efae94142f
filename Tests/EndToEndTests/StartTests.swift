import Foundation
import TestSupport
import Testing

/// Conditions that prevent a start.
@Suite("a start", .timeLimit(.minutes(5))) struct StartTests {
  @Test(
    "a start is refused while another daemon has the state directory; the message has its pid, and it is not disturbed")
  func second() async throws {
    let daemon = try await Daemon()
    let pid = try #require(daemon.pid)
    let second = try await Self.transferd(state: daemon.stateDirectory, socket: daemon.directory.path("run/other"))
    #expect(second.status == 1)
    #expect(second.stderr.contains("pid \(pid)"))
    let same = try await Self.transferd(state: daemon.stateDirectory, socket: daemon.socketPath)
    #expect(same.status == 1)
    #expect(try await daemon.ctl("status").status == 0)
  }

  @Test("a start is refused while another daemon responds on the socket")
  func socketInUse() async throws {
    let daemon = try await Daemon()
    let other = try await Self.transferd(state: daemon.directory.path("other"), socket: daemon.socketPath)
    #expect(other.status == 1)
    #expect(other.stderr.contains("another program answers"))
    #expect(try await daemon.ctl("status").status == 0)
  }

  @Test("a start replaces the socket of a killed daemon")
  func staleSocket() async throws {
    let daemon = try await Daemon()
    try await daemon.kill9()
    #expect(FileManager.default.fileExists(atPath: daemon.socketPath))
    try await daemon.start()
    #expect(try await daemon.ctl("status").status == 0)
  }

  @Test("a start is refused if the socket's path is a regular file, which is kept")
  func regularFile() async throws {
    let daemon = try await Daemon(isStarted: false)
    try daemon.directory.file("run/s", text: "precious")
    let end = try await daemon.launch().result()
    #expect(end.status == 1)
    #expect(end.stderr.contains("not a socket"))
    #expect(!daemon.notifications.contains("READY=1"))
    #expect(try String(contentsOfFile: daemon.socketPath, encoding: .utf8) == "precious")
  }

  @Test("a start is refused with a message if the socket's path is too long")
  func longPath() async throws {
    let directory = try TemporaryDirectory()
    let end = try await Self.transferd(
      state: directory.path("state"), socket: directory.path(String(repeating: "s", count: 120)))
    #expect(end.status == 1)
    #expect(end.stderr.contains("longer than 107 bytes"))
  }

  /// The kind of damage.
  enum Damage: String, CaseIterable {
    case noDatabase, cutShort, zeroedPages, missingBesideItsLog
  }

  @Test("a start refuses a damaged database and does not change it", arguments: Damage.allCases)
  func damaged(_ damage: Damage) async throws {
    let daemon = try await Daemon()
    let list = (0..<20).map { "http://127.0.0.1:9/\($0)\n" }.joined()
    #expect(try await daemon.run(["add", "-i", "-", "--paused"], input: Data(list.utf8)).lines.count == 20)
    try await daemon.terminate()
    let path = daemon.statePath("transferd.db")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    switch damage {
    case .noDatabase: bytes = Data("this is no database\n".utf8)
    case .cutShort: bytes = bytes.prefix(bytes.count / 2)
    case .zeroedPages: bytes.replaceSubrange(4096..<bytes.count, with: Data(count: bytes.count - 4096))
    case .missingBesideItsLog: break
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    if damage == .missingBesideItsLog {
      try FileManager.default.moveItem(atPath: path, toPath: path + "-wal")
    }
    let end = try await daemon.launch().result()
    #expect(end.status == 1)
    #expect(end.stderr.contains("transferd.db"), "\(end.stderr)")
    let left = damage == .missingBesideItsLog ? path + "-wal" : path
    #expect(try Data(contentsOf: URL(fileURLWithPath: left)) == bytes)
    #expect(FileManager.default.fileExists(atPath: path) == (damage != .missingBesideItsLog))
  }

  private static func transferd(state: String, socket: String) async throws -> ChildProcess.Result {
    try await Launch(BuiltPrograms.path("transferd"), ["--state-dir", state, "--socket", socket]).run()
  }
}
