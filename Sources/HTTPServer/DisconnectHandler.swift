import NIOCore

/// Calls a closure once when the client has closed its half of the connection, or all of it. A response without an end would
/// otherwise learn that only from its next write. Used on the channel's event loop only.
final class DisconnectHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  private var onEnd: (@Sendable () -> Void)?

  /// - Parameter onEnd: called on the event loop.
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { report() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    report()
    context.fireChannelInactive()
  }

  private func report() {
    onEnd?()
    onEnd = nil
  }

  /// Adds a handler at the front of the channel's pipeline. The closure is called at once if the channel is closed already.
  static func watch(_ channel: any Channel, onEnd: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      guard channel.isActive else { return onEnd() }
      try? channel.pipeline.syncOperations.addHandler(DisconnectHandler(onEnd: onEnd), position: .first)
    }
  }
}

/// Used on one event loop only.
@available(*, unavailable)
extension DisconnectHandler: Sendable {}
