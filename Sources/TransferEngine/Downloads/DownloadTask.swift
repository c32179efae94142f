import FoundationEssentials

/// The result of a download, for `await`. Making this value starts the request, unless the session leaves that to `resume()`.
public struct DownloadTask<Value: Sendable>: Sendable {
  private let request: DownloadRequest
  private let task: Task<DownloadResponse<Value, TransferError>, Never>
  private let shouldAutomaticallyCancel: Bool

  init(
    _ request: DownloadRequest, automaticallyCancelling: Bool,
    _ work: @escaping @Sendable (FileResponse) -> DownloadResponse<Value, TransferError>
  ) {
    self.request = request
    shouldAutomaticallyCancel = automaticallyCancelling
    task = Task { work(await request.core.value()) }
  }

  /// The response, after validation and the rename. Cancelling the awaiting task cancels the request and keeps its resume
  /// data, unless automatic cancellation is off.
  public var response: DownloadResponse<Value, TransferError> {
    get async {
      guard shouldAutomaticallyCancel else { return await task.value }
      return await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        request.cancel(producingResumeData: true)
      }
    }
  }

  /// The value, or why there is none.
  public var result: Result<Value, TransferError> {
    get async { await response.result }
  }

  /// The value. Throws the request's error, or the serializer's.
  public var value: Value {
    get async throws(TransferError) { try await result.get() }
  }

  /// Starts the request, or continues it after `suspend()`.
  public func resume() { request.resume() }
  /// Suspends the request.
  public func suspend() { request.suspend() }
  /// Cancels the request. Its part file is kept, and the response has resume data.
  public func cancel() { request.cancel(producingResumeData: true) }
}
