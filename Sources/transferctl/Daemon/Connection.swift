import FoundationEssentials
import Glibc
import TransferAPI

/// Finds the daemon: the one on the named socket and no other; else the user's, else the system's, else the
/// user's is started.
struct Connection: Sendable {
  let locations: Locations
  /// `false` by `--no-autostart` and TRANSFERCTL_NO_AUTOSTART.
  var mayStart: Bool
  var systemSocket = Locations.systemSocket
  var makeTransport: @Sendable (String) -> any ControlTransport = { EngineTransport(socket: $0) }
  /// How long somebody who accepted the connection may take to say that all is well: TRANSFERCTL_ANSWER_TIMEOUT.
  var answerTimeout: Duration?

  /// With the start of this program the contract allows 2 s where no daemon may be started. A user's own daemon that is
  /// busy, as in a night of backups, is not given up so soon: nobody else would do its work.
  func patience(isOwn: Bool) -> Duration {
    answerTimeout ?? (isOwn && mayStart && !locations.isSocketExplicit ? .seconds(30) : .milliseconds(1700))
  }

  /// What a socket is found to be.
  enum Answer: Equatable, Sendable {
    case alive
    /// Not there, or a dead daemon's.
    case nobody
    /// Somebody holds it and says nothing.
    case silent
    case forbidden
  }

  /// - Throws: `CommandFailure` that says whom nobody could reach.
  func open() async throws -> ControlClient {
    if let client = try await find() { return client }
    guard !locations.isSocketExplicit else {
      throw CommandFailure(.unreachable, "no transferd answers on \(locations.socket)")
    }
    guard mayStart else {
      throw CommandFailure(
        .unreachable, "transferd is not running, and starting it is forbidden (--no-autostart)")
    }
    return try await start()
  }

  /// A daemon that is there already, or `nil`.
  func find() async throws -> ControlClient? {
    let own = client(locations.socket)
    switch try await probe(own) {
    case .alive: return own
    case .forbidden: throw CommandFailure(.permission, "not permitted to use \(locations.socket)")
    case .silent:
      throw CommandFailure(.unreachable, "transferd on \(locations.socket) accepts but does not answer")
    case .nobody: break
    }
    guard !locations.isSocketExplicit else { return nil }
    let system = client(systemSocket)
    return try await probe(system, isOwn: false) == .alive ? system : nil
  }

  /// After the connection to `socket` was lost: the same daemon again, which may be restarting. A user's daemon
  /// that stays away is started where that is allowed.
  func reopen(_ socket: String, within limit: Duration = .seconds(30)) async throws -> ControlClient {
    let clock = ContinuousClock()
    let begin = clock.now
    let client = client(socket)
    var starts = 0
    while clock.now - begin < limit {
      try await Task.sleep(for: .milliseconds(250))
      if try await probe(client) == .alive { return client }
      let isOwn = socket == locations.socket && !locations.isSocketExplicit
      // Somebody else (systemd) may be about to bring it back.
      guard isOwn, mayStart, clock.now - begin > .seconds(2) else { continue }
      starts += 1
      do {
        return try await start()
      } catch  where starts < 3 {
        // Whatever ended the one before may have ended this one too.
        continue
      }
    }
    throw CommandFailure(
      .unreachable, "lost transferd on \(socket); it did not come back; the jobs stay stored")
  }

  /// Starts the user's daemon, or waits for the one that somebody else is starting.
  func start() async throws -> ControlClient {
    let client = client(locations.socket)
    try await DaemonLauncher(locations: locations).launch { try await probe(client) == .alive }
    return client
  }

  func client(_ socket: String) -> ControlClient {
    ControlClient(socket: socket, transport: makeTransport(socket))
  }

  func probe(_ client: ControlClient, isOwn: Bool = true) async throws -> Answer {
    let path = client.socket
    // sockaddr_un.sun_path, unix(7)
    guard path.utf8.count <= 107 else {
      throw CommandFailure(.usage, "the socket's path is longer than 107 bytes: \(path)")
    }
    guard access(path, R_OK | W_OK) == 0 else { return errno == EACCES ? .forbidden : .nobody }
    return try await withThrowingTaskGroup(of: Answer.self) { group in
      group.addTask {
        do {
          let (status, _) = try await client.transport.send("GET", "/healthz", body: nil, contentType: nil)
          // The daemon asks the kernel who comes, whatever the socket's mode.
          if status == 403 { return .forbidden }
          return (200..<300).contains(status) ? .alive : .silent
        } catch ControlError.unreachable {
          return .nobody
        } catch is ControlError {
          return .silent
        }
      }
      group.addTask {
        try await Task.sleep(for: patience(isOwn: isOwn))
        return .silent
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .silent
    }
  }
}
