import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import TransferAPI

/// The control API on a Unix socket: HTTP/1.1 for whoever may connect.
struct ControlServer: Sendable {
  let path: String
  let daemon: DaemonFace
  let access: PeerAccess
  /// Further ones wait in the socket's queue.
  let maximumClients: Int
  let logger: Logger

  /// Longest path of a Unix socket, less the final NUL (unix(7)).
  static let maximumPathBytes = 107
  /// A connection that asks nothing for this long is closed, and one that reads nothing of its answer.
  static let idleTimeout = TimeAmount.seconds(60)

  /// Serves until cancelled. The lock of the state directory must be held: what stands under the path is replaced if it is
  /// a socket that nobody answers on.
  /// - Parameter onReady: called once the socket is open and only its owner (or the group) can connect.
  func run(onReady: @escaping @Sendable () async -> Void) async throws {
    try SocketFile.prepare(path)
    // Created without rights for anybody else, whatever the user's umask; set back before a job can begin.
    let mask = umask(0o177)
    let path = path
    let access = access
    let table = RouteTable(daemon: daemon, access: access, logger: logger)
    let quiet = quiet
    // Hummingbird's server without its `Application`, whose date cache wakes up every second for ever.
    let server = try HTTPServerBuilder.http1(
      configuration: .init(
        additionalChannelHandlers: [ClientCourtesyInstaller(), UnreadAnswerHandler(timeout: Self.idleTimeout)],
        idleTimeout: Self.idleTimeout)
    ).buildServer(
      configuration: .init(
        address: .unixDomainSocket(path: path), backlog: 512,
        availableConnectionsDelegate: MaximumAvailableConnections(maximumClients, logger: quiet)),
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet
    ) { request, writer, channel in
      let context = ControlContext(source: .init(channel: channel, logger: quiet))
      let response = try await table.respond(to: request, context: context)
      let body = try await writer.writeHead(response.head)
      try await response.body.write(body)
    } onServerRunning: { _ in
      umask(mask)
      do {
        try SocketFile.open(path, to: access)
      } catch {
        StandardError.write("transferd: \(error)\n")
        _exit(1)
      }
      await onReady()
    }
    try await server.run()
  }

  /// Hummingbird's own lines are of no use to the user's journal: it calls every orderly stop an error. What
  /// matters is thrown.
  private var quiet: Logger {
    var logger = logger
    logger.logLevel = .critical
    return logger
  }
}

/// Who may speak to the daemon: its own user and root; as a system service also who can open the socket, which the group
/// decides.
struct PeerAccess: Equatable, Sendable {
  /// The daemon's own uid.
  var uid: UInt32
  /// The group that may connect; `nil`: none.
  var group: gid_t?

  func allows(_ peer: UInt32) -> Bool { peer == uid || peer == 0 || group != nil }
}

/// The socket in the file system.
enum SocketFile {
  struct Unusable: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes the directory, and makes sure that what stands under the path may be replaced.
  static func prepare(_ path: String) throws {
    guard path.utf8.count <= ControlServer.maximumPathBytes else {
      throw Unusable(
        description:
          "cannot listen on \(path): the path is longer than \(ControlServer.maximumPathBytes) bytes;"
          + " name a shorter one with --socket")
    }
    try StateDirectory.prepare(parent(path), mustBePrivate: false)
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw Unusable(description: "cannot listen on \(path): a file that is not a socket stands there")
    }
    guard !isAnswered(path) else {
      throw Unusable(description: "cannot listen on \(path): another program answers on it")
    }
    unlink(path)
  }

  /// - Throws: where the group cannot be given its rights; without one the socket is the owner's from the start.
  static func open(_ path: String, to access: PeerAccess) throws {
    guard let group = access.group else { return }
    guard chown(path, uid_t.max, group) == 0, chmod(path, 0o660) == 0 else {
      throw Unusable(description: "cannot give \(path) to the group \(group): \(String(cString: strerror(errno)))")
    }
  }

  private static func isAnswered(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { buffer in
      for (index, byte) in path.utf8.enumerated() where index < buffer.count - 1 { buffer[index] = byte }
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  private static func parent(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
