import HTTPServer
import Logging
import TransferAPI

/// The control API on a Unix socket, for every user who may connect.
struct ControlServer: Sendable {
  let path: String
  let daemon: DaemonServices
  let access: PeerAccess
  /// Connections at once; further ones wait in the socket's queue.
  let maximumClients: Int
  let logger: Logger

  /// Serves until the task is cancelled. The lock of the state directory must be held: a socket at the path on which no
  /// program answers is replaced.
  /// - Parameter onReady: called when the socket is open and only its owner (or the group) can connect.
  func run(onReady: @Sendable () async -> Void) async throws {
    try SocketFile.prepare(path)
    let table = RouteTable(daemon: daemon, access: access, logger: logger)
    let listener = Listener(
      limits: limits, refuse: { Reply.problem(Problem($0)) }, respond: { await table.respond(to: $0) })
    try await listener.run(on: try ListeningSocket(path: path, group: access.group), onReady: onReady)
  }

  private var limits: ServerLimits {
    var limits = ServerLimits(connections: maximumClients)
    limits.privilegedUsers = [access.uid, 0]
    return limits
  }
}
