public import Dispatch

extension Request {
  /// Calls the handler with the request of every attempt, after its adapters. If an attempt has begun, the handler is called
  /// at once with the last request.
  /// - Parameter queue: where the handler is called; `nil` calls it on one of the engine's threads, where it must return
  ///   quickly.
  @discardableResult public func onURLRequestCreation(
    on queue: DispatchQueue? = nil, perform handler: @escaping @Sendable (TransferRequest) -> Void
  ) -> Self {
    control.core.record.observeRequests(.closure(handler, queue: queue))
    return self
  }

  /// Calls the handler with the head of every response, redirects included, before the body arrives. If a head has arrived,
  /// the handler is called at once with the last one.
  /// - Parameter queue: where the handler is called; `nil` calls it on the transfer loop's thread, where it must return
  ///   quickly.
  @discardableResult public func onHTTPResponse(
    on queue: DispatchQueue? = nil, perform handler: @escaping @Sendable (ResponseHead) -> Void
  ) -> Self {
    control.core.record.observeResponses(.closure(handler, queue: queue))
    return self
  }

  /// The requests of all attempts, after their adapters, as a stream that ends with the request.
  public func urlRequests(
    bufferingPolicy: AsyncStream<TransferRequest>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<TransferRequest> {
    let (stream, continuation) = AsyncStream<TransferRequest>.makeStream(bufferingPolicy: bufferingPolicy)
    control.core.record.observeRequests(.stream(continuation))
    return stream
  }

  /// The heads of all responses, redirects included, as a stream that ends with the request.
  public func httpResponses(
    bufferingPolicy: AsyncStream<ResponseHead>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ResponseHead> {
    let (stream, continuation) = AsyncStream<ResponseHead>.makeStream(bufferingPolicy: bufferingPolicy)
    control.core.record.observeResponses(.stream(continuation))
    return stream
  }

  /// Calls the handler once with the request as a `curl` command, without secrets: with the last request, or with the first
  /// one as soon as it is created.
  @discardableResult public func cURLDescription(
    on queue: DispatchQueue? = nil, calling handler: @escaping @Sendable (String) -> Void
  ) -> Self {
    let session = control.core.session
    control.core.record.observeRequests(
      .closure({ handler($0.cURLDescription(in: session)) }, queue: queue), once: true)
    return self
  }
}
