import NIOCore
import NIOHTTP1

/// What HTTP asks of a server beyond Hummingbird's: a client that waits for `100 Continue` gets it (RFC 9110 §10.1.1), and the
/// connection of an HTTP/1.0 client ends with its answer (RFC 9112 §9.3). Used on the channel's event loop alone.
final class ClientCourtesyHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Requests whose answers have not been written: an interim answer must not get into another's way.
  private var unanswered = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    unanswered += 1
    if unanswered == 1, head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
      let go = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(go)), promise: nil)
    }
    if head.version.major == 1, head.version.minor == 0, !head.isKeepAlive {
      head.headers.replaceOrAdd(name: "Connection", value: "close")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { unanswered = max(0, unanswered - 1) }
    context.write(data, promise: promise)
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
