/// Changes a request before it is sent, in every attempt anew, so that late-bound credentials work.
public protocol RequestAdapter: Sendable {
  /// - Throws: anything; the request fails with `TransferError.hook(.adapter, …)`.
  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest
}

/// Decides what follows a failed attempt.
public protocol RequestRetrier: Sendable {
  /// - Parameter retryCount: retries so far; progress of a download sets it back to 0.
  /// - Parameter request: the request as the hooks before this one left it.
  /// - Parameter session: the session that asks.
  func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult

  /// The same with all that is known of the attempt. What is called; by default it asks the other.
  func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult
}

extension RequestRetrier {
  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    guard let request = attempt.request else { return .doNotRetry }
    return await retry(request, for: session, dueTo: attempt.error, retryCount: attempt.retryCount)
  }
}

/// An attempt that failed, for retriers.
public struct FailedAttempt: Sendable {
  /// What was sent last; `nil` where the request could not even be described.
  public var request: TransferRequest?
  /// The head that was answered, where one was.
  public var response: ResponseHead?
  /// Why the attempt failed.
  public var error: TransferError
  /// Retries so far; progress of a download sets it back to 0.
  public var retryCount: Int
  /// Since the request began, waiting included.
  public var elapsed: Duration

  /// An attempt as a test makes it; the defaults are those of a first attempt.
  public init(
    request: TransferRequest?, response: ResponseHead? = nil, error: TransferError, retryCount: Int = 0,
    elapsed: Duration = .zero
  ) {
    self.request = request
    self.response = response
    self.error = error
    self.retryCount = retryCount
    self.elapsed = elapsed
  }
}

/// What a retrier says of a failed attempt.
public enum RetryResult: Sendable {
  /// Try again at once.
  case retry
  /// Try again after this time.
  case retryWithDelay(Duration)
  /// Not for me: the next retrier is asked, and where there is none the request fails with its error.
  case doNotRetry
  /// Fails the request with this error instead.
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

/// Both hooks. Each has a default that does nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest { request }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult { .doNotRetry }
}
