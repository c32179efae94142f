import NIOCore

/// Tells when a client has sent its last byte, or is gone altogether: an answer without an end would find that out only with
/// the next thing it has to say. Told once. Used on the channel's event loop alone.
final class FarewellHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  private var onEnd: (@Sendable () -> Void)?

  /// - Parameter onEnd: on the event loop.
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { tell() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    tell()
    context.fireChannelInactive()
  }

  private func tell() {
    onEnd?()
    onEnd = nil
  }

  /// Puts one at the channel's end of the pipeline.
  static func watch(_ channel: any Channel, onEnd: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      guard channel.isActive else { return onEnd() }
      try? channel.pipeline.syncOperations.addHandler(FarewellHandler(onEnd: onEnd), position: .first)
    }
  }
}

/// It lives on one event loop.
@available(*, unavailable)
extension FarewellHandler: Sendable {}
