/// Decides whether a failed attempt is followed by another.
public protocol RequestRetrier: Sendable {
  /// - Parameters:
  ///   - request: the last request of the attempt.
  ///   - session: the session that asks.
  ///   - error: why the attempt failed.
  ///   - retryCount: retries so far; progress of a download resets it to 0.
  func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult

  /// The same with everything that is known about the attempt. The engine calls this method; by default it calls the
  /// other one.
  func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult
}

extension RequestRetrier {
  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    guard let request = attempt.request else { return .doNotRetry }
    return await retry(request, for: session, dueTo: attempt.error, retryCount: attempt.retryCount)
  }
}
