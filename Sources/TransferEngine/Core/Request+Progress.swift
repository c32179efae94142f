public import Dispatch

extension Request {
  /// How much of the response has arrived.
  public var progress: TransferProgress { control.core.progress(.download) }

  /// How much of the request's body libcurl has taken. Decreases when the body is sent again.
  public var sent: TransferProgress { control.core.progress(.upload) }

  /// Calls the closure for every piece that arrives; without a queue on the transfer loop's thread, where it must
  /// return quickly.
  @discardableResult public func downloadProgress(
    queue: DispatchQueue? = nil, closure: @escaping @Sendable (TransferProgress) -> Void
  ) -> Self {
    control.core.observe(.download, .closure(closure, queue: queue))
    return self
  }

  /// Calls the closure for every piece that is handed to libcurl; without a queue on the transfer loop's thread, where
  /// it must return quickly.
  @discardableResult public func uploadProgress(
    queue: DispatchQueue? = nil, closure: @escaping @Sendable (TransferProgress) -> Void
  ) -> Self {
    control.core.observe(.upload, .closure(closure, queue: queue))
    return self
  }

  /// Progress as a stream that ends with the request. By default a slow reader gets only the newest value.
  public func downloadProgress(
    bufferingPolicy: AsyncStream<TransferProgress>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<TransferProgress> {
    stream(.download, bufferingPolicy)
  }

  /// Progress as a stream that ends with the request. By default a slow reader gets only the newest value.
  public func uploadProgress(
    bufferingPolicy: AsyncStream<TransferProgress>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<TransferProgress> {
    stream(.upload, bufferingPolicy)
  }

  private func stream(
    _ direction: ProgressDirection, _ policy: AsyncStream<TransferProgress>.Continuation.BufferingPolicy
  ) -> AsyncStream<TransferProgress> {
    let (stream, continuation) = AsyncStream<TransferProgress>.makeStream(bufferingPolicy: policy)
    control.core.observe(direction, .stream(continuation))
    return stream
  }
}
