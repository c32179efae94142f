import Glibc

/// A socket that is bound and waits for connections.
public struct ListeningSocket: Sendable {
  /// Its descriptor belongs to the ``Listener`` that gets it.
  public let descriptor: Int32

  /// A socket that another program has bound, as systemd does (sd_listen_fds(3)).
  public init(inherited descriptor: Int32) { self.descriptor = descriptor }

  /// Binds a Unix socket (unix(7)). Before the group has its rights, only the user of this process can connect.
  /// - Parameters:
  ///   - path: at most ``maximumPathBytes``; nothing may be there.
  ///   - group: the group that may connect beside the user of this process; `nil`: only the user.
  /// - Throws: `ListeningSocket.Failure`; nothing is left behind.
  public init(path: String, group: gid_t?) throws(Failure) {
    guard path.utf8.count <= Self.maximumPathBytes else {
      throw Failure(path: path, call: "bind", code: ENAMETOOLONG)
    }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw Failure(path: path, call: "socket", code: errno) }
    // The mode of a socket that is not bound yet becomes that of its file (Linux), whatever the umask is.
    guard fchmod(descriptor, 0o600) == 0 else { throw failure(path, "fchmod") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let descriptor = descriptor
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
    }
    guard isBound else { throw failure(path, "bind") }
    if let group {
      guard chown(path, uid_t.max, group) == 0 else { throw failure(path, "chown", removing: true) }
      guard chmod(path, 0o660) == 0 else { throw failure(path, "chmod", removing: true) }
    }
  }

  /// The longest path of a Unix socket, less the final NUL (unix(7)).
  public static let maximumPathBytes = 107

  private func failure(_ path: String, _ call: String, removing: Bool = false) -> Failure {
    let failure = Failure(path: path, call: call, code: errno)
    close(descriptor)
    if removing { unlink(path) }
    return failure
  }

  /// A call that failed.
  public struct Failure: Error, CustomStringConvertible {
    public let path: String
    public let call: String
    public let code: Int32

    public var description: String { "cannot listen on \(path): \(call): \(String(cString: strerror(code)))" }
  }
}
