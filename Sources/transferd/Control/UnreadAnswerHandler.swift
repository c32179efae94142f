import NIOCore

/// Closes a connection whose other end has stopped reading: its answer holds memory, and its descriptor is another's.
///
/// A channel that cannot be written to is one whose buffers are full, here and in the kernel; any byte that is taken out of
/// them may make it writable again. Used on the channel's event loop alone.
final class UnreadAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any

  private let timeout: TimeAmount
  private var deadline: Scheduled<Void>?

  init(timeout: TimeAmount) { self.timeout = timeout }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = nil
    if !context.channel.isWritable {
      let channel = context.channel
      deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = nil
    context.fireChannelInactive()
  }
}

/// It lives on one event loop.
@available(*, unavailable)
extension UnreadAnswerHandler: Sendable {}
