import ArgumentParser
import FoundationEssentials
import Glibc
import TransferAPI

/// The options of every command that select the daemon.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Use only the daemon at this socket, and start none.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(name: .customLong("no-autostart"), help: "Do not start a daemon.")
  var noAutostart = false

  func connection(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Connection {
    if let socket, socket.isEmpty { throw CommandFailure(.usage, "--socket is empty") }
    var locations = try Locations(
      socket: socket, stateDirectory: nil, environment: environment, uid: getuid(), home: Self.home(),
      directoryExists: PathResolver.isDirectory)
    // The daemon's working directory is `/`, so the paths it gets must be absolute.
    let paths = PathResolver(environment: environment)
    locations.socket = try paths.absolute(locations.socket)
    locations.stateDirectory = try paths.absolute(locations.stateDirectory)
    let forbidden = environment["TRANSFERCTL_NO_AUTOSTART"].map { !["", "0"].contains($0) } ?? false
    var connection = Connection(locations: locations, mayStart: !noAutostart && !forbidden)
    if let text = environment["TRANSFERCTL_ANSWER_TIMEOUT"], !text.isEmpty {
      guard let seconds = Double(text), seconds > 0, seconds <= 86400 else {
        throw CommandFailure(.usage, "TRANSFERCTL_ANSWER_TIMEOUT is not a number of seconds: \(text)")
      }
      connection.responseTimeout = .seconds(seconds)
    }
    return connection
  }

  func open() async throws -> ControlClient { try await connection().open() }

  /// The home directory from the password database: cron may run without HOME.
  private static func home() -> String? {
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return nil }
    return String(validatingCString: directory)
  }
}
