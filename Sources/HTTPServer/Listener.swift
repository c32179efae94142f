import Glibc
import NIOCore
import NIOPosix

/// Accepts connections on a socket and answers their requests: HTTP/1.1 and HTTP/1.0.
public struct Listener: Sendable {
  private let service: ConnectionHandler.Service
  private let users: UserConnections

  /// - Parameters:
  ///   - limits: the memory, descriptors and time that clients may use.
  ///   - refuse: the response to a request that breaks HTTP or a limit. Its status should be the error's.
  ///   - respond: the response to any other request. Requests of one connection come one after the other, those of
  ///     several connections at the same time.
  public init(
    limits: ServerLimits, refuse: @escaping @Sendable (RequestError) -> Response,
    respond: @escaping @Sendable (Request) async -> Response
  ) {
    service = ConnectionHandler.Service(
      limits: limits, budget: MemoryBudget(limits), respond: respond, refuse: refuse)
    users = UserConnections(limits)
  }

  /// Connections that may wait until they are accepted (listen(2)).
  private static let backlog: Int32 = 512

  /// The memory that request bodies share.
  public var budget: MemoryBudget { service.budget }

  /// Serves until the task is cancelled; then all connections are closed.
  /// - Parameter onReady: called when clients can connect.
  public func run(on socket: ListeningSocket, onReady: @Sendable () async -> Void) async throws {
    let (service, users) = (service, users)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptHandler(limit: service.limits.connections))
        }
      }
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: service.limits.readBytes)
      )
      .childChannelInitializer { channel in
        Peer.ask(channel).flatMapThrowing { peer in
          let admission = users.enter(peer.uid)
          channel.closeFuture.whenComplete { _ in users.leave(peer.uid, admission) }
          try ConnectionHandler.install(service, peer: peer, admission: admission, on: channel)
        }
      }
      .withBoundSocket(socket.descriptor).get()
    // NIO has set a shorter queue.
    guard listen(socket.descriptor, Self.backlog) == 0 else {
      throw IOError(errnoCode: errno, reason: "listen")
    }
    await onReady()
    try await withTaskCancellationHandler {
      try await channel.closeFuture.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }
}
