import FoundationEssentials

/// Reads a stream's channel for one sequence. A channel has one reader; a second one gets an error.
final class StreamReading: Sendable {
  private let request: DataStreamRequest
  private let isCancelling: Bool
  private let isFirst: Bool

  /// - Parameter isCancelling: the request is cancelled when the sequence is dropped or its task is cancelled.
  init(_ request: DataStreamRequest, cancelling isCancelling: Bool = true) {
    self.request = request
    self.isCancelling = isCancelling
    isFirst = request.channel.claim()
    request.core.resume()
  }

  deinit { if isFirst, isCancelling { request.core.cancel() } }

  /// The next piece; `nil` at the end.
  func next() async throws(TransferError) -> Data? {
    guard isFirst else { throw .body(.alreadyRead) }
    guard isCancelling else { return try await request.channel.next().get() }
    return try await withTaskCancellationHandler {
      await request.channel.next()
    } onCancel: {
      request.core.cancel()
    }.get()
  }
}
