import Threads

/// Does what must not be broken off in the middle: a request that makes something at a server, whose answer is the only way
/// to learn its name. When the caller is cancelled the work goes on for a little while, so that what it made can be recorded
/// and taken back; then it is cancelled too.
/// - Parameter grace: a server that says nothing for so long is not waited for.
func outlivingCancellation<Value: Sendable>(
  grace: Duration = .seconds(5), _ work: @escaping @Sendable () async throws(TransferError) -> Value
) async throws(TransferError) -> Value {
  if Task.isCancelled { throw .cancelled }
  let task = Task { () async -> Result<Value, TransferError> in
    do throws(TransferError) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
  let result = await withTaskCancellationHandler {
    await task.value
  } onCancel: {
    Task {
      try? await Task.pause(for: grace)
      task.cancel()
    }
  }
  return try result.get()
}
