import Threads

extension Session {
  /// How long the rest of a response is waited for, so that its connection can be used again.
  private static let bodyPatience = Duration.seconds(1)

  /// Sends a request once, without retries by the session, and waits for the head of its response. The body is not wanted:
  /// neither a break nor an endless one changes the result.
  /// - Parameter limit: the longest time until the head, with connections and redirects. After it the error is
  ///   `.connection(.stalled)`.
  /// - Returns: the response's head, whatever its status, or why there is none.
  package func send(
    _ request: TransferRequest, within limit: Duration
  ) async -> (head: ResponseHead?, error: TransferError?) {
    let stream = streamRequest(request)
    let core = stream.core
    let deadline = Self.cancel(core, after: limit, dueTo: .connection(.stalled))
    let head = await withTaskCancellationHandler {
      await Self.head(of: stream)
    } onCancel: {
      core.cancel()
    }
    deadline.cancel()
    switch head {
    case .success(let head): return (head, nil)
    case .failure(let error): return (nil, error)
    }
  }

  private static func head(of stream: DataStreamRequest) async -> Result<ResponseHead, TransferError> {
    let head: ResponseHead
    do throws(TransferError) {
      head = try await stream.responseHead()
    } catch {
      return .failure(error)
    }
    // The body has no reader. A short one ends by itself; a long one is cancelled.
    let end = cancel(stream.core, after: bodyPatience)
    await stream.core.ended()
    end.cancel()
    return .success(head)
  }

  private static func cancel(
    _ core: RequestCore<StreamOutcome>, after delay: Duration, dueTo cause: TransferError? = nil
  ) -> Task<Void, Never> {
    Task {
      do { try await Task.pause(for: delay) } catch { return }
      core.cancel(dueTo: cause, producingResumeData: false)
    }
  }
}
