/// The decision of a retrier.
public enum RetryResult: Sendable {
  /// Retry at once.
  case retry
  /// Retry after this delay.
  case retryWithDelay(Duration)
  /// No decision: the next retrier is asked. After the last one the request fails with its error.
  case doNotRetry
  /// Fail the request with this error.
  case doNotRetryWithError(any Error)

  /// Whether another attempt follows.
  public var retryRequired: Bool {
    switch self {
    case .retry, .retryWithDelay: true
    case .doNotRetry, .doNotRetryWithError: false
    }
  }

  /// The delay of `.retryWithDelay`.
  public var delay: Duration? { if case .retryWithDelay(let delay) = self { delay } else { nil } }

  /// The error of `.doNotRetryWithError`.
  public var error: (any Error)? { if case .doNotRetryWithError(let error) = self { error } else { nil } }
}
