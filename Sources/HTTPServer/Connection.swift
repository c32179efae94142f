import NIOCore

/// The connection of a request, for the task that handles the request. Every method may be called from any thread.
final class Connection: Sendable {
  let channel: any Channel
  let peer: Peer
  let limits: ServerLimits
  private let budget: MemoryBudget
  private let handler: NIOLoopBound<ConnectionHandler>

  /// On the channel's event loop.
  init(
    _ channel: any Channel, _ peer: Peer, _ limits: ServerLimits, _ budget: MemoryBudget, _ handler: ConnectionHandler
  ) {
    self.channel = channel
    self.peer = peer
    self.limits = limits
    self.budget = budget
    self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
  }

  /// Reads more of the body.
  func readBody() { onLoop { $0.bodyWanted() } }

  /// The body is being collected in memory: it must arrive within a time that depends on its length.
  func startCollecting() { onLoop { $0.startCollecting() } }

  func reserve(_ bytes: Int) async throws -> MemoryBudget.Reservation {
    try await budget.reserve(bytes, for: peer.uid, on: channel.eventLoop)
  }

  func tryReserve(_ bytes: Int) -> MemoryBudget.Reservation? { budget.tryReserve(bytes, for: peer.uid) }

  /// A whole response, or the head of one whose body is a stream.
  func respond(_ response: Response) { onLoop { $0.respond(response) } }

  /// A piece of a body that is a stream.
  func write(_ piece: ByteBuffer) async throws {
    try await withCheckedThrowingContinuation { continuation in
      onLoop { $0.write(piece, continuation) }
    }
  }

  /// A body that is a stream is complete.
  func finish() { onLoop { $0.finish() } }

  /// A body that is a stream cannot be completed.
  func abort() { channel.close(promise: nil) }

  private func onLoop(_ act: @escaping @Sendable (ConnectionHandler) -> Void) {
    let handler = handler
    channel.eventLoop.execute { act(handler.value) }
  }
}
