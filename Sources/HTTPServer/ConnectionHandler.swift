import NIOCore
import NIOHTTP1

/// Answers the requests of one connection, one at a time and in their order. ``ConnectionState`` decides what happens.
/// Used on the channel's event loop only; the tasks of requests reach it by ``Connection``.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// What a server does with requests.
  struct Service: Sendable {
    let limits: ServerLimits
    let budget: MemoryBudget
    let respond: @Sendable (Request) async -> Response
    /// The response to a request that has no handler.
    let refuse: @Sendable (RequestError) -> Response
  }

  /// The request that is being answered.
  struct Exchange {
    let head: HTTPRequestHead
    let body: BodySource
    /// The client waits for 100 Continue before it sends the body.
    var awaitsContinue: Bool
    var bodyBytes = 0
    var collectingSince: NIODeadline?
  }

  let service: Service
  let peer: Peer
  /// A connection that is not admitted is answered with its error as soon as it is active.
  private let admission: UserConnections.Admission
  private(set) var state = ConnectionState()
  var exchange: Exchange?
  private var context: ChannelHandlerContext?
  private var connection: Connection?
  private var requestGuard: RequestGuard?
  /// Parts of later requests that the decoder found in one piece with the current one.
  private var parts = CircularBuffer<HTTPServerRequestPart>()
  private var timer = DeadlineTimer()
  private var runningTimeout: ConnectionState.Timeout?
  private var isReading = false
  /// Writers that wait for the client to read.
  private var writers: [CheckedContinuation<Void, any Error>] = []

  init(_ service: Service, peer: Peer, admission: UserConnections.Admission) {
    self.service = service
    self.peer = peer
    self.admission = admission
  }

  // MARK: - Set-up

  /// Adds all handlers of a connection to its pipeline, on its event loop.
  static func install(
    _ service: Service, peer: Peer, admission: UserConnections.Admission, on channel: any Channel
  ) throws {
    let handler = ConnectionHandler(service, peer: peer, admission: admission)
    let requestGuard = RequestGuard(service.limits, handler)
    handler.requestGuard = requestGuard
    handler.connection = Connection(channel, peer, service.limits, service.budget, handler)
    var decoderLimits = NIOHTTPDecoderLimitConfiguration()
    decoderLimits.maxHeaderFieldSize = service.limits.headBytes
    decoderLimits.maxHeaderListSize = service.limits.headBytes
    decoderLimits.maxHeaderFieldCount = service.limits.headFields
    let decoder = HTTPRequestDecoder(
      leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop, limitConfiguration: decoderLimits)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(SlowReaderTimeout(timeout: service.limits.readerTimeout))
    try pipeline.addHandler(HTTPResponseEncoder())
    try pipeline.addHandler(requestGuard)
    try pipeline.addHandler(ByteToMessageHandler(decoder))
    try pipeline.addHandler(NIOHTTPResponseHeadersValidator())
    try pipeline.addHandler(handler)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { start() }
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    start()
  }

  private func start() {
    switch admission {
    case .admitted: proceed()
    case .refused(let error, _): fail(error)
    }
  }

  // MARK: - Input

  /// What ``RequestGuard`` does with bytes now.
  var intake: RequestGuard.Intake {
    if !parts.isEmpty { return .hold }
    switch state.phase {
    case .idle, .head: return state.failure == nil ? .head : .discard
    case .exchange:
      if state.failure != nil { return .discard }
      return state.isBodyComplete ? .hold : .body
    case .draining: return .body
    case .lingering, .closed: return .discard
    }
  }

  func headBytesArrived() { state.bytesArrived() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    requestGuard?.partArrived()
    let part = unwrapInboundIn(data)
    // The decoder may find the next request in the same piece of input.
    if !parts.isEmpty || state.phase == .exchange && state.isBodyComplete { parts.append(part) } else { take(part) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    context.fireChannelReadComplete()
    proceed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      if state.inputEnded() { close() }
      // The decoder reports the end of a body before this event, so a body that is still open was cut off.
      exchange?.body.fail(RequestError.bodyCutOff)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else {
      // The connection is broken: nothing can be written to it.
      return close()
    }
    switch error {
    case .headerOverflow: fail(.headTooLarge(limit: service.limits.headBytes))
    case .invalidVersion: fail(.unsupportedVersion)
    case .invalidEOFState where state.phase == .exchange: fail(.bodyCutOff)
    default: fail(RequestError(error))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    state.closed()
    timer.cancel()
    exchange?.body.fail(RequestError.bodyCutOff)
    for writer in writers { writer.resume(throwing: ChannelError.ioOnClosedChannel) }
    writers = []
    parts = []
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    connection = nil
    requestGuard = nil
  }

  /// The input cannot be used any further.
  func fail(_ error: RequestError) {
    switch state.failed(error) {
    case .refuse: refuse(error)
    case .failBody: exchange?.body.fail(error)
    case .close: close()
    case .wait: break
    }
    proceed()
  }

  private func take(_ part: HTTPServerRequestPart) {
    switch (part, state.phase) {
    case (_, .lingering), (_, .closed): break
    case (.head(let head), _): receive(head)
    case (.body(let bytes), .exchange):
      state.bodyArrived()
      exchange?.bodyBytes += bytes.readableBytes  // checked: no connection lives for 2⁶³ bytes
      exchange?.body.append(bytes)
    case (.end, .exchange):
      _ = state.bodyEnded()
      exchange?.body.finish()
    case (.end, _): _ = state.bodyEnded()
    case (.body, _): break
    }
  }

  private func receive(_ head: HTTPRequestHead) {
    guard let connection else { return }
    let declaration = RequestHead(head, service.limits)
    if let error = declaration.error { return fail(error) }
    state.headArrived(keepsAlive: declaration.keepsAlive)
    let source = declaration.hasBody ? BodySource { connection.readBody() } : .empty
    exchange = Exchange(head: head, body: source, awaitsContinue: declaration.awaitsContinue)
    // Without content there is nothing to wait for.
    if !declaration.hasBody { sendContinue() }
    let request = Request(
      method: head.method, target: RequestTarget(head.uri), headers: head.headers,
      body: RequestBody(
        declaredBytes: declaration.declaredBytes, source: source, connection: declaration.hasBody ? connection : nil),
      peer: peer, connection: connection)
    let respond = service.respond
    Task {
      let response = await respond(request)
      connection.respond(response)
      guard case .stream(let write) = response.body, request.method != .HEAD else { return }
      do {
        try await write(ResponseWriter(connection: connection))
        connection.finish()
      } catch {
        connection.abort()
      }
    }
  }

  // MARK: - Body

  func bodyWanted() {
    state.bodyWanted()
    sendContinue()
    proceed()
  }

  func startCollecting() { exchange?.collectingSince = context?.eventLoop.now }

  /// Tells the client to send the body, if it waits for that. RFC 9110 §10.1.1
  func sendContinue() {
    guard exchange?.awaitsContinue == true, let context else { return }
    exchange?.awaitsContinue = false
    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
  }

  // MARK: - Output

  /// The response is complete, and the kernel has all of it.
  func responseEnded() {
    exchange = nil
    switch state.responseEnded(hasMore: !parts.isEmpty || requestGuard?.hasBytes == true) {
    case .request, .drain: break
    case .linger:
      // The client sees the end of the response at once, and may finish writing.
      context?.close(mode: .output, promise: nil)
    case .refuse(let error): refuse(error)
    case .close: close()
    }
    while !parts.isEmpty, !(state.phase == .exchange && state.isBodyComplete), let part = parts.popFirst() {
      take(part)
    }
    requestGuard?.forward()
    proceed()
  }

  private func refuse(_ error: RequestError) {
    state.refused()
    exchange = nil
    parts = []
    write(service.refuse(error), isHead: false, version: .http1_1)
  }

  func abandonBody() { state.abandonBody() }

  func write(_ piece: ByteBuffer, _ continuation: CheckedContinuation<Void, any Error>) {
    guard let context, state.phase != .closed else {
      return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
    }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
    // The write itself may detect that the client is gone. Then no event follows that would resume a waiting writer.
    guard state.phase != .closed, context.channel.isActive else {
      return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
    }
    if context.channel.isWritable { continuation.resume() } else { writers.append(continuation) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      let waiting = writers
      writers = []
      for writer in waiting { writer.resume() }
    }
    context.fireChannelWritabilityChanged()
  }

  func put(_ part: HTTPServerResponsePart) { context?.write(wrapOutboundOut(part), promise: nil) }

  func flush() { context?.flush() }

  /// Flushes what was written; afterwards the response is complete.
  func end(with part: HTTPServerResponsePart?) {
    guard let context, state.phase != .closed else { return }
    let closesAtOnce = if case .refused(_, lingers: false) = admission { true } else { false }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { result in
      guard case .success = result, self.state.phase != .closed else { return }
      if closesAtOnce { self.close() } else { self.responseEnded() }
    }
    if let part {
      context.writeAndFlush(wrapOutboundOut(part), promise: promise)
    } else {
      // An empty piece writes nothing, not even a chunk; its promise is kept after what was written before.
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
    }
  }

  private func close() {
    state.closed()
    context?.close(promise: nil)
  }

  // MARK: - Time

  /// Reads if more is wanted, and sets the timer that belongs to the state.
  private func proceed() {
    guard let context, context.channel.isActive else { return }
    let timeout = state.timeout
    if timeout != runningTimeout {
      runningTimeout = timeout
      if let timeout { arm(deadline(timeout, context.eventLoop.now), context) } else { timer.disarm() }
    }
    if state.wantsRead, !isReading {
      isReading = true
      context.read()
    }
  }

  private func deadline(_ timeout: ConnectionState.Timeout, _ now: NIODeadline) -> NIODeadline {
    let limits = service.limits
    switch timeout {
    case .idle: return now + limits.idleTimeout
    case .head: return now + limits.headTimeout
    case .drain: return now + limits.drainTimeout
    case .body:
      let silence = now + limits.idleTimeout
      guard let exchange, let start = exchange.collectingSince else { return silence }
      let seconds = Int64(exchange.bodyBytes / limits.bodyBytesPerSecond)  // checked: the rate is a positive constant
      return min(silence, start + limits.bodyTimeout + .seconds(seconds))  // checked: bodies end long before 2⁶³ ns
    }
  }

  private func arm(_ deadline: NIODeadline, _ context: ChannelHandlerContext) {
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer.arm(at: deadline, on: context.eventLoop) { handler.value.timerFired() }
  }

  private func timerFired() {
    guard let context else { return }
    switch timer.hasFired(at: context.eventLoop.now) {
    case .nothing: break
    case .again(let deadline): arm(deadline, context)
    case .over:
      switch runningTimeout {
      case .idle, .drain: close()
      case .head: fail(.headTimeout)
      case .body: fail(.bodyTimeout)
      case nil: break
      }
    }
  }
}

/// Used on one event loop only.
@available(*, unavailable)
extension ConnectionHandler: Sendable {}
