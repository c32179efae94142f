import ArgumentParser
import FoundationEssentials
import Glibc
import TransferAPI

/// Which daemon; on every command.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The daemon's socket; no other is tried and none started.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(name: .customLong("no-autostart"), help: "Do not start a daemon where none answers.")
  var noAutostart = false

  func connection(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Connection {
    if let socket, socket.isEmpty { throw CommandFailure(.usage, "--socket is empty") }
    var locations = try Locations(
      socket: socket, stateDirectory: nil, environment: environment, uid: getuid(), home: Self.home(),
      directoryExists: PathResolver.isDirectory)
    // The daemon lives in `/`, so what it is told must not depend on where we are.
    let paths = PathResolver(environment: environment)
    locations.socket = try paths.absolute(locations.socket)
    locations.stateDirectory = try paths.absolute(locations.stateDirectory)
    let forbidden = environment["TRANSFERCTL_NO_AUTOSTART"].map { !["", "0"].contains($0) } ?? false
    var connection = Connection(locations: locations, mayStart: !noAutostart && !forbidden)
    if let text = environment["TRANSFERCTL_ANSWER_TIMEOUT"], !text.isEmpty {
      guard let seconds = Double(text), seconds > 0, seconds <= 86400 else {
        throw CommandFailure(.usage, "TRANSFERCTL_ANSWER_TIMEOUT is not a number of seconds: \(text)")
      }
      connection.answerTimeout = .seconds(seconds)
    }
    return connection
  }

  func open() async throws -> ControlClient { try await connection().open() }

  /// From the password database: cron may run without HOME.
  private static func home() -> String? {
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return nil }
    return String(validatingCString: directory)
  }
}
