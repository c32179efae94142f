import NIOCore
import NIOHTTP1

/// What HTTP asks of a server beyond Hummingbird's: a client that waits for `100 Continue` gets it (RFC 9110 §10.1.1), and the
/// connection of an HTTP/1.0 client ends with its answer (RFC 9112 §9.3). Used on the channel's event loop alone.
final class ClientCourtesyHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Requests whose answers have not been written, and whether each waits to be told to go on: an interim answer must not
  /// get into the way of the answer before.
  private var unanswered = CircularBuffer<Bool>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    unanswered.append(head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" })
    if unanswered.count == 1 { tellToGoOn(context) }
    if head.version.major == 1, head.version.minor == 0, !head.isKeepAlive {
      head.headers.replaceOrAdd(name: "Connection", value: "close")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    context.write(data, promise: promise)
    _ = unanswered.popFirst()
    tellToGoOn(context)
  }

  private func tellToGoOn(_ context: ChannelHandlerContext) {
    guard unanswered.first == true else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }
}

/// It lives on one event loop.
@available(*, unavailable)
extension ClientCourtesyHandler: Sendable {}

/// Puts the handler where parts are still NIO's own; Hummingbird adds handlers only behind its translation of them.
final class ClientCourtesyInstaller: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
    do {
      try pipeline.addHandler(ClientCourtesyHandler(), position: .after(decoder))
    } catch {
      context.fireErrorCaught(error)
    }
  }
}

/// It lives on one event loop.
@available(*, unavailable)
extension ClientCourtesyInstaller: Sendable {}
