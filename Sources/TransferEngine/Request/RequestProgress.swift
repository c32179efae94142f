public import Dispatch

/// How far a request is.
public struct TransferProgress: Sendable, Equatable {
  /// Bytes that are there: of a download, in the file.
  public var completed: Int64 = 0
  /// `nil` while unknown.
  public var total: Int64?

  /// Bytes so far, of how many; `nil`: nobody knows.
  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }

  /// From 0 to 1; `nil` while the total is unknown. Of nothing, all is done.
  public var fractionCompleted: Double? {
    total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
  }
}

/// Who is told of progress.
enum ProgressObserver: Sendable {
  case closure(@Sendable (TransferProgress) -> Void, queue: DispatchQueue?)
  case stream(AsyncStream<TransferProgress>.Continuation)

  func tell(_ progress: TransferProgress) {
    switch self {
    case .closure(let closure, nil): closure(progress)
    case .closure(let closure, let queue?): queue.async { closure(progress) }
    case .stream(let continuation): continuation.yield(progress)
    }
  }

  func finish() {
    if case .stream(let continuation) = self { continuation.finish() }
  }
}

/// Which way bytes go.
enum ProgressDirection: Sendable {
  case download, upload
}

extension Request {
  /// How much of the answer is there.
  public var progress: TransferProgress { control.core.progress(.download) }

  /// How much of the request's body libcurl has taken to send. Goes back when the body is sent again.
  public var sent: TransferProgress { control.core.progress(.upload) }

  /// Called for every piece that arrives: without a queue on the transfer loop's thread, where it must return quickly.
  @discardableResult public func downloadProgress(
    queue: DispatchQueue? = nil, closure: @escaping @Sendable (TransferProgress) -> Void
  ) -> Self {
    control.core.observe(.download, .closure(closure, queue: queue))
    return self
  }

  /// Called for every piece that is handed to libcurl to be sent: without a queue on the transfer loop's thread, where it
  /// must return quickly.
  @discardableResult public func uploadProgress(
    queue: DispatchQueue? = nil, closure: @escaping @Sendable (TransferProgress) -> Void
  ) -> Self {
    control.core.observe(.upload, .closure(closure, queue: queue))
    return self
  }

  /// The same as a stream, which ends with the request. By default only the newest value waits for a slow reader.
  public func downloadProgress(
    bufferingPolicy: AsyncStream<TransferProgress>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<TransferProgress> {
    stream(.download, bufferingPolicy)
  }

  /// The same as a stream, which ends with the request. By default only the newest value waits for a slow reader.
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
