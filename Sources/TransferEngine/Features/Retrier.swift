/// A retrier from a closure.
public struct Retrier: RequestInterceptor {
  /// Says whether another attempt follows.
  public typealias Closure = @Sendable (FailedAttempt, Session) async -> RetryResult

  private let closure: Closure

  /// A retrier that calls this closure after every failure except a cancellation, on one of Swift's threads.
  public init(_ closure: @escaping Closure) { self.closure = closure }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    await closure(attempt, session)
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    await retry(FailedAttempt(request: request, error: error, retryCount: retryCount), for: session)
  }
}
