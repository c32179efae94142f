import Threads

/// Runs work that must not stop halfway: a request that creates something on a server, whose response alone tells its
/// name. If the caller is cancelled, the work continues for a short time, so that its result can be recorded and
/// deleted later.
func withCancellationGracePeriod<Value: Sendable>(
  _ work: @escaping @Sendable () async throws(TransferError) -> Value
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
      try? await Task.pause(for: .seconds(5))
      task.cancel()
    }
  }
  return try result.get()
}
