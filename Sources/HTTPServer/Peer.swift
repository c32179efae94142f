import Glibc
import NIOCore

/// The program at the other end of a connection, as the kernel reports it.
public struct Peer: Equatable, Sendable {
  /// The effective uid that the program had when it connected; `nil` for a connection that has none (TCP).
  public let uid: UInt32?

  public init(uid: UInt32?) { self.uid = uid }

  /// Asks the kernel (`SO_PEERCRED`, unix(7)); nothing that the peer sends is trusted.
  static func ask(_ channel: any Channel) -> EventLoopFuture<Peer> {
    guard let provider = channel as? any SocketOptionProvider, case .unixSocket? = channel.localAddress?.kind else {
      return channel.eventLoop.makeSucceededFuture(Peer(uid: nil))
    }
    // struct ucred { pid_t pid; uid_t uid; gid_t gid; }
    let credentials: EventLoopFuture<(Int32, UInt32, UInt32)> = provider.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: SO_PEERCRED))
    return credentials.map { Peer(uid: $0.1) }
  }
}

extension SocketAddress {
  fileprivate enum Kind { case unixSocket, network }

  fileprivate var kind: Kind {
    switch self {
    case .unixDomainSocket: .unixSocket
    case .v4, .v6: .network
    }
  }
}
