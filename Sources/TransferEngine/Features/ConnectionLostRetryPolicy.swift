public import HTTPTypes

/// Retries only if the connection was lost during the transfer.
public struct ConnectionLostRetryPolicy: RequestInterceptor {
  /// The policy for these failures.
  public let policy: RetryPolicy

  /// A policy for lost connections only, for methods that may be repeated.
  public init(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5,
    retryableHTTPMethods: Set<HTTPRequest.Method> = RetryPolicy.defaultRetryableHTTPMethods
  ) {
    policy = RetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
      retryableHTTPStatusCodes: [], retryableErrorCodes: [.connectionLost, .truncated])
  }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    await policy.retry(attempt, for: session)
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    await retry(FailedAttempt(request: request, error: error, retryCount: retryCount), for: session)
  }
}

extension RequestInterceptor where Self == RetryPolicy {
  /// Alamofire's defaults: two retries, 0.5 s first.
  public static var retryPolicy: RetryPolicy { RetryPolicy() }

  /// A policy with Alamofire's parameters and everything else at its default.
  public static func retryPolicy(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5
  ) -> RetryPolicy {
    RetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale)
  }
}

extension RequestInterceptor where Self == ConnectionLostRetryPolicy {
  /// Retries lost connections with the default limits.
  public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

  /// Retries lost connections with these limits.
  public static func connectionLostRetryPolicy(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5,
    retryableHTTPMethods: Set<HTTPRequest.Method> = RetryPolicy.defaultRetryableHTTPMethods
  ) -> ConnectionLostRetryPolicy {
    ConnectionLostRetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods)
  }
}

extension Duration {
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18  // checked: Doubles do not trap
  }
}
