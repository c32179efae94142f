import NIOCore

/// Closes a connection whose client has stopped reading its response, which holds memory and a descriptor. A client that reads
/// slowly is not disconnected: any byte that it takes is progress. Used on the channel's event loop only.
final class SlowReaderTimeout: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any
  typealias OutboundIn = Any
  typealias OutboundOut = Any

  private let timeout: TimeAmount
  private var timer: Scheduled<Void>?
  /// What the timer compares with: the bytes that wait, and whether the client has made room since.
  private var waitingBytes = 0
  private var hasMadeRoom = false

  /// - Parameter timeout: a client that takes nothing for this long is disconnected at the latest after twice the time.
  init(timeout: TimeAmount) { self.timeout = timeout }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    watch(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { hasMadeRoom = true }
    watch(context)
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    context.fireChannelInactive()
  }

  private func watch(_ context: ChannelHandlerContext) {
    guard isWaiting(context) else {
      timer?.cancel()
      timer = nil
      return
    }
    if timer == nil { schedule(context) }
  }

  private func schedule(_ context: ChannelHandlerContext) {
    waitingBytes = bufferedBytes(context)
    hasMadeRoom = false
    let (handler, boundContext) = (
      NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
    )
    timer = context.eventLoop.scheduleTask(in: timeout) { handler.value.check(boundContext.value) }
  }

  private func check(_ context: ChannelHandlerContext) {
    timer = nil
    guard isWaiting(context) else { return }
    if hasMadeRoom || bufferedBytes(context) != waitingBytes {
      schedule(context)
    } else {
      context.close(promise: nil)
    }
  }

  private func isWaiting(_ context: ChannelHandlerContext) -> Bool {
    !context.channel.isWritable || bufferedBytes(context) > 0
  }

  /// The bytes that were written and that the kernel has not taken.
  private func bufferedBytes(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}

/// Used on one event loop only.
@available(*, unavailable)
extension SlowReaderTimeout: Sendable {}
