import FoundationEssentials

/// The result of a data request, for `await`. Making this value starts the request, unless the session leaves that to
/// `resume()`. The serializer runs once, even if several tasks await the result.
public struct DataTask<Value: Sendable>: Sendable {
  private let request: any Request
  private let task: Task<DataResponse<Value, TransferError>, Never>
  private let shouldAutomaticallyCancel: Bool

  init(
    _ request: any Request, automaticallyCancelling: Bool,
    _ work: @escaping @Sendable () async -> DataResponse<Value, TransferError>
  ) {
    self.request = request
    shouldAutomaticallyCancel = automaticallyCancelling
    task = Task { await work() }
  }

  /// The response, after validation. Cancelling the awaiting task cancels the request, unless automatic cancellation is
  /// off.
  public var response: DataResponse<Value, TransferError> {
    get async {
      guard shouldAutomaticallyCancel else { return await task.value }
      return await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        request.cancel()
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
  /// Cancels the request.
  public func cancel() { request.cancel() }
}
