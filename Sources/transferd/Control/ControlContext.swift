import Glibc
import Hummingbird
import Logging
import NIOCore

/// What is known of a request's connection.
struct ControlContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  /// The uid at the other end, from the kernel (`SO_PEERCRED`, unix(7)): never from anything the peer says.
  func peerUID() async throws -> UInt32? {
    guard let provider = channel as? any SocketOptionProvider else { return nil }
    // struct ucred { pid_t pid; uid_t uid; gid_t gid; }
    let peer: (Int32, UInt32, UInt32) = try await provider.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: SO_PEERCRED)
    ).get()
    return peer.1
  }
}
