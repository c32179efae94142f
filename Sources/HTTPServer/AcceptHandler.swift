import NIOCore

/// Accepts connections while there are fewer than the limit; further ones wait in the socket's queue. Used on the listening
/// channel's event loop only.
final class AcceptHandler: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never
  typealias OutboundOut = Never

  /// How long nothing is accepted after an error, such as a lack of descriptors.
  private static let pause = TimeAmount.milliseconds(100)

  private let limit: Int
  private var connections: [ObjectIdentifier: any Channel] = [:]
  private var isPaused = false
  private var wantsRead = false
  private var context: ChannelHandlerContext?

  init(limit: Int) { self.limit = limit }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func read(context: ChannelHandlerContext) {
    wantsRead = true
    accept()
  }

  private func accept() {
    guard wantsRead, !isPaused, connections.count < limit else { return }
    wantsRead = false
    context?.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = unwrapInboundIn(data)
    let id = ObjectIdentifier(channel)
    connections[id] = channel
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
      handler.value.connections[id] = nil
      handler.value.accept()
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    isPaused = true
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pause) {
      handler.value.isPaused = false
      handler.value.accept()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    for connection in connections.values { connection.close(promise: nil) }
    context.fireChannelInactive()
  }
}

/// Used on one event loop only.
@available(*, unavailable)
extension AcceptHandler: Sendable {}
