import FoundationEssentials
import Glibc
import TransferAPI

/// Finds the daemon. With `--socket` it is the daemon on that socket. Otherwise it is the user's daemon, then the system's;
/// when neither runs, the user's daemon is started.
struct Connection: Sendable {
  let locations: Locations
  /// Whether the user's daemon may be started. `--no-autostart` and TRANSFERCTL_NO_AUTOSTART forbid it.
  var mayStart: Bool
  var systemSocket = Locations.systemSocket
  var makeTransport: @Sendable (String) -> any ControlTransport = { SocketTransport(socket: $0) }
  /// How long a daemon that accepted the connection may take to respond to `/healthz`: TRANSFERCTL_ANSWER_TIMEOUT.
  var responseTimeout: Duration?

  /// The contract allows a command 2 s, including its start, when no daemon may be started. The user's own daemon may be busy
  /// for longer, and no other daemon would do its work, so it gets 30 s.
  func patience(isOwn: Bool) -> Duration {
    responseTimeout ?? (isOwn && mayStart && !locations.isSocketExplicit ? .seconds(30) : .milliseconds(1700))
  }

  /// What a connection to the socket finds.
  enum SocketState: Equatable, Sendable {
    case responding
    /// The socket does not exist, or no process listens on it.
    case unused
    /// A process accepts connections but does not respond.
    case unresponsive
    case forbidden
  }

  /// - Throws: `CommandFailure` when no daemon can be reached or started.
  func open() async throws -> ControlClient {
    if let client = try await find() { return client }
    guard !locations.isSocketExplicit else {
      throw CommandFailure(
        .unreachable,
        "cannot reach transferd: it does not respond on \(locations.socket); start it, or use another --socket")
    }
    guard mayStart else {
      throw CommandFailure(
        .unreachable, "transferd is not running; start it, or remove --no-autostart or TRANSFERCTL_NO_AUTOSTART")
    }
    return try await start()
  }

  /// A running daemon, or `nil`.
  func find() async throws -> ControlClient? {
    let own = client(locations.socket)
    switch try await probe(own) {
    case .responding: return own
    case .forbidden: throw CommandFailure(.permission, "cannot use \(locations.socket): permission denied")
    case .unresponsive:
      throw CommandFailure(
        .unreachable, "cannot reach transferd: it accepts connections on \(locations.socket) but does not respond")
    case .unused: break
    }
    guard !locations.isSocketExplicit else { return nil }
    let system = client(systemSocket)
    return try await probe(system, isOwn: false) == .responding ? system : nil
  }

  /// Connects again after the connection to `socket` was lost. The daemon may be restarting. The user's daemon is started when
  /// it does not come back and `mayStart` allows it.
  func reopen(_ socket: String) async throws -> ControlClient {
    let limit = Duration.seconds(30)
    let clock = ContinuousClock()
    let begin = clock.now
    let client = client(socket)
    var starts = 0
    while clock.now - begin < limit {
      try await Task.sleep(for: .milliseconds(250))
      if try await probe(client) == .responding { return client }
      let isOwn = socket == locations.socket && !locations.isSocketExplicit
      // Another program, such as systemd, may be about to restart it.
      guard isOwn, mayStart, clock.now - begin > .seconds(2) else { continue }
      starts += 1
      do {
        return try await start()
      } catch  where starts < 3 {
        // The cause that ended the previous daemon may have ended this one, too.
        continue
      }
    }
    throw CommandFailure(
      .unreachable,
      "lost the connection to transferd on \(socket), and it did not return; its jobs are kept; start it again")
  }

  /// Starts the user's daemon, or waits for one that another program is starting.
  func start() async throws -> ControlClient {
    let client = client(locations.socket)
    try await DaemonLauncher(locations: locations).launch { try await probe(client) == .responding }
    return client
  }

  func client(_ socket: String) -> ControlClient {
    ControlClient(socket: socket, transport: makeTransport(socket))
  }

  func probe(_ client: ControlClient, isOwn: Bool = true) async throws -> SocketState {
    let path = client.socket
    // sockaddr_un.sun_path, unix(7)
    guard path.utf8.count <= 107 else {
      throw CommandFailure(.usage, "the socket's path is longer than 107 bytes: \(path)")
    }
    guard access(path, R_OK | W_OK) == 0 else { return errno == EACCES ? .forbidden : .unused }
    return try await withThrowingTaskGroup(of: SocketState.self) { group in
      group.addTask {
        do {
          let (status, _) = try await client.transport.send("GET", "/healthz", body: nil, contentType: nil)
          // The daemon checks the peer's uid, whatever the socket's mode allows.
          if status == 403 { return .forbidden }
          return (200..<300).contains(status) ? .responding : .unresponsive
        } catch ControlError.unreachable {
          return .unused
        } catch is ControlError {
          return .unresponsive
        }
      }
      group.addTask {
        try await Task.sleep(for: patience(isOwn: isOwn))
        return .unresponsive
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .unresponsive
    }
  }
}
