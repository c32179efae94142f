import ArgumentParser
import FoundationEssentials
import Glibc
import Testing

@testable import transferctl

@Suite struct ConnectionTests {
  @Test("with a named socket that does not exist the status is 3, and no other socket is tried")
  func missing() async throws {
    let daemon = ScriptedDaemon { _, _, _ in (200, "ok") }
    let connection = try daemon.connection(socket: "/nonexistent/sock", mayStart: true)
    await #expect(
      throws: CommandFailure(
        .unreachable,
        "cannot reach transferd: it does not respond on /nonexistent/sock; start it, or use another --socket")
    ) {
      try await connection.open()
    }
    #expect(daemon.requests.isEmpty)
  }

  @Test("without autostart no daemon is started")
  func noAutostart() async throws {
    let daemon = ScriptedDaemon { _, _, _ in throw ControlError.unreachable("refused") }
    let connection = try daemon.connection(explicit: false)
    let failure = await #expect(throws: CommandFailure.self) { try await connection.open() }
    #expect(failure?.status == .unreachable)
  }

  @Test("the user's daemon is preferred to the system's, and the system's to a start")
  func system() async throws {
    let daemon = ScriptedDaemon { _, _, _ in (200, "ok") }
    var connection = try daemon.connection(explicit: false)
    connection.systemSocket = "/dev/zero"
    #expect(try await connection.open().socket == "/dev/null")
    connection = try daemon.connection(explicit: false, socket: "/nonexistent/sock", mayStart: true)
    connection.systemSocket = "/dev/zero"
    #expect(try await connection.open().socket == "/dev/zero")
  }

  @Test("a daemon that accepts and does not respond is given up in time", .timeLimit(.minutes(5)))
  func silent() async throws {
    struct Mute: ControlTransport {
      func send(
        _ method: String, _ path: String, body: Data?, contentType: String?
      ) async throws -> (status: Int, body: Data) {
        try await Task.sleep(for: .seconds(3600))
        return (200, Data())
      }

      func stream(
        _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
      ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
        throw ControlError.unreachable("never asked")
      }
    }
    var connection = try ScriptedDaemon { _, _, _ in (200, "") }.connection(responseTimeout: .milliseconds(200))
    connection.makeTransport = { _ in Mute() }
    #expect(try await connection.probe(connection.client("/dev/null")) == .unresponsive)
    await #expect(throws: CommandFailure.self) { try await connection.open() }
  }

  @Test("a socket path longer than the kernel allows is a usage error")
  func tooLong() async throws {
    let daemon = ScriptedDaemon { _, _, _ in (200, "ok") }
    let connection = try daemon.connection(socket: "/" + String(repeating: "x", count: 107))
    let failure = await #expect(throws: CommandFailure.self) { try await connection.open() }
    #expect(failure?.status == .usage)
  }

  @Test(
    "TRANSFERCTL_NO_AUTOSTART forbids a start", arguments: [([:], true), (["TRANSFERCTL_NO_AUTOSTART": "1"], false)])
  func environment(variables: [String: String], mayStart: Bool) throws {
    let options = try ConnectionOptions.parse([])
    let environment = variables.merging(["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/u"]) { $1 }
    let connection = try options.connection(environment: environment)
    #expect(connection.mayStart == mayStart)
    #expect(connection.locations.socket == "/run/u/transferd/transferd.sock")
    #expect(connection.locations.stateDirectory == "/home/u/.local/state/transferd")
    #expect(try !ConnectionOptions.parse(["--no-autostart"]).connection(environment: environment).mayStart)
  }

  @Test(
    "TRANSFERCTL_ANSWER_TIMEOUT sets how long a daemon may take to respond",
    arguments: [
      ("", 30), ("60", 60), ("0.5", 0.5), ("0", nil), ("-1", nil), ("nan", nil), ("1e9", nil), ("soon", nil),
    ]
      as [(String, Double?)])
  func responseTimeout(text: String, seconds: Double?) throws {
    let options = try ConnectionOptions.parse([])
    let environment = ["HOME": "/home/u", "TRANSFERCTL_ANSWER_TIMEOUT": text]
    guard let seconds else {
      let failure = #expect(throws: CommandFailure.self) { try options.connection(environment: environment) }
      #expect(failure?.status == .usage)
      return
    }
    let connection = try options.connection(environment: environment)
    #expect(connection.patience(isOwn: true) == .seconds(seconds))
    let strict = text.isEmpty ? Duration.milliseconds(1700) : .seconds(seconds)
    #expect(connection.patience(isOwn: false) == strict)
    for arguments in [["--no-autostart"], ["--socket", "/s"]] {
      let other = try ConnectionOptions.parse(arguments).connection(environment: environment)
      #expect(other.patience(isOwn: true) == strict)
    }
  }
}

@Suite struct PathResolverTests {
  @Test(
    "paths become absolute and lose empty and `.` components",
    arguments: [
      ("a", "/base/a"), ("./a//b/", "/base/a/b"), ("/x/y", "/x/y"), (".", "/base"), ("~/a", "/base/~/a"),
      ("a\nb", "/base/a\nb"),
    ])
  func absolute(path: String, expected: String) throws {
    #expect(try PathResolver().absolute(path, relativeTo: "/base") == expected)
  }

  @Test("`..` is resolved through symbolic links as the kernel does")
  func parents() throws {
    let folder = try TemporaryFolder()
    let real = try #require(realpath(folder.path, nil).map { String(cString: $0) })
    for name in ["one", "one/two"] {
      try FileManager.default.createDirectory(atPath: "\(real)/\(name)", withIntermediateDirectories: true)
    }
    symlink("\(real)/one/two", "\(real)/link")
    let paths = PathResolver()
    #expect(try paths.absolute("link/../x", relativeTo: real) == "\(real)/one/x")
    #expect(try paths.absolute("one/../x", relativeTo: real) == "\(real)/x")
    #expect(try paths.absolute("/..") == "/")
    let failure = #expect(throws: CommandFailure.self) { try paths.absolute("none/../x", relativeTo: real) }
    #expect(failure?.status == .cannotCreate)
  }

  @Test("$PWD is used only if it names the current directory")
  func workingDirectory() throws {
    let folder = try TemporaryFolder()
    let here = FileManager.default.currentDirectoryPath
    let link = folder.path + "/here"
    symlink(here, link)
    #expect(try PathResolver(environment: ["PWD": link]).currentDirectory() == link)
    let physical = try PathResolver(environment: [:]).currentDirectory()
    #expect(try PathResolver(environment: ["PWD": "/nonexistent"]).currentDirectory() == physical)
    #expect(try PathResolver(environment: ["PWD": "."]).currentDirectory() == physical)
  }

  @Test(
    "paths that no file system can hold are refused", arguments: ["", "a\0b", String(repeating: "n", count: 256)])
  func refused(path: String) {
    #expect(throws: CommandFailure.self) { try PathResolver().absolute(path, relativeTo: "/") }
  }
}
