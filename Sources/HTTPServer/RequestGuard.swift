import NIOCore

/// Runs before the HTTP decoder. It limits the bytes that the decoder collects without a result, and it holds the bytes
/// of the next request until the response to the current one is complete. Used on the channel's event loop only.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// What the connection does with bytes now.
  enum Intake {
    /// A head is expected.
    case head
    /// The body of the current request is expected, or discarded.
    case body
    /// The current request is complete; further bytes belong to the next one.
    case hold
    case discard
  }

  private let limits: ServerLimits
  private let connection: ConnectionHandler
  private var held = ByteBuffer()
  /// Bytes given to the decoder since it produced something.
  private var undecodedBytes = 0
  private var hasLine = false
  private var inputClosed: InputClosed = .no
  private var context: ChannelHandlerContext?

  private enum InputClosed { case no, held, reported }

  init(_ limits: ServerLimits, _ connection: ConnectionHandler) {
    self.limits = limits
    self.connection = connection
  }

  /// Whether bytes of the next request are held.
  var hasBytes: Bool { held.readableBytes > 0 }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// The decoder has produced a part of a message.
  func partArrived() {
    undecodedBytes = 0
    hasLine = false
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
    forward()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
    inputClosed = .held
    forward()
  }

  func read(context: ChannelHandlerContext) {
    // At the end of the input there is nothing to read.
    if inputClosed == .no { context.read() }
  }

  /// Gives the decoder what it may have now.
  func forward() {
    guard let context else { return }
    while held.readableBytes > 0 {
      var bytes: ByteBuffer
      switch connection.intake {
      case .hold: return
      case .discard:
        held = ByteBuffer()
        continue
      case .body:
        bytes = held
        held = ByteBuffer()
        guard undecodedBytes < limits.headBytes else {
          connection.fail(.malformed("chunk extensions or trailer fields are longer than \(limits.headBytes) bytes"))
          continue
        }
      case .head:
        connection.headBytesArrived()
        let room = limits.headBytes - undecodedBytes  // checked: see below
        guard room > 0 else {
          connection.fail(hasLine ? .headTooLarge(limit: limits.headBytes) : .targetTooLong(limit: limits.targetBytes))
          continue
        }
        bytes = held.readSlice(length: min(room, held.readableBytes)) ?? ByteBuffer()
        hasLine = hasLine || bytes.readableBytesView.contains(UInt8(ascii: "\n"))
      }
      undecodedBytes += bytes.readableBytes  // checked: at most headBytes and one piece
      context.fireChannelRead(wrapInboundOut(bytes))
    }
    held = ByteBuffer()
    if inputClosed == .held {
      inputClosed = .reported
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
  }
}

/// Used on one event loop only.
@available(*, unavailable)
extension RequestGuard: Sendable {}
