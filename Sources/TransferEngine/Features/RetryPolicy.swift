public import HTTPTypes

/// Which failures are tried again, and when: Alamofire's names and defaults, with what it lacks — a cap, full jitter,
/// `Retry-After` — and without its fault, a retry that starts over.
public struct RetryPolicy: RequestInterceptor {
  /// Tries after the first one.
  public var retryLimit: Int
  public var exponentialBackoffBase: Double
  /// Seconds; the first delay's upper bound is scale × base⁰.
  public var exponentialBackoffScale: Double
  /// No delay of our own is longer.
  public var maximumDelay: Duration
  /// No delay that a server asks for is honoured beyond this.
  public var maximumRetryAfter: Duration
  public var retryableHTTPMethods: Set<HTTPRequest.Method>

  /// RFC 9110 §9.2.2: idempotent, so a lost answer does no harm.
  public static let defaultRetryableHTTPMethods: Set<HTTPRequest.Method> = [
    .delete, .get, .head, .options, .put, .trace,
  ]

  public init(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5,
    maximumDelay: Duration = .seconds(300), maximumRetryAfter: Duration = .seconds(86400),
    retryableHTTPMethods: Set<HTTPRequest.Method> = RetryPolicy.defaultRetryableHTTPMethods
  ) {
    self.retryLimit = retryLimit
    self.exponentialBackoffBase = exponentialBackoffBase
    self.exponentialBackoffScale = exponentialBackoffScale
    self.maximumDelay = maximumDelay
    self.maximumRetryAfter = maximumRetryAfter
    self.retryableHTTPMethods = retryableHTTPMethods
  }

  /// Statuses after which the same request may succeed. 429, 425 and 423 (RFC 4918 §11.3: locked by another) are missing in Alamofire's set.
  public static func isTransient(status: Int) -> Bool {
    switch status {
    case 408, 423, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524: true
    default: false
    }
  }

  /// How long to wait before the try after `attempt` failed ones: full jitter below scale × base^(attempt − 1),
  /// capped. `Retry-After` is a floor, with up to a tenth on top so that not all come back at once.
  /// - Parameter attempt: failed tries so far, 1 or more.
  public func delay<Generator: RandomNumberGenerator>(
    forAttempt attempt: Int, retryAfter: Duration?, using generator: inout Generator
  ) -> Duration {
    if let retryAfter {
      let asked = max(.zero, min(retryAfter, maximumRetryAfter))
      let spread = min(asked.inSeconds * 0.1, 10)
      return asked + .seconds(Double.random(in: 0...spread, using: &generator))
    }
    var bound = exponentialBackoffScale
    for _ in 1..<max(1, attempt) {
      bound *= exponentialBackoffBase
      if bound >= maximumDelay.inSeconds { break }
    }
    return .seconds(Double.random(in: 0...min(bound, maximumDelay.inSeconds), using: &generator))
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    guard retryCount < retryLimit, error.isTransient, retryableHTTPMethods.contains(request.method) else {
      return .doNotRetry
    }
    var generator = SystemRandomNumberGenerator()
    return .retryWithDelay(
      delay(forAttempt: retryCount + 1, retryAfter: error.retryAfter, using: &generator))
  }
}

extension RequestInterceptor where Self == RetryPolicy {
  /// Alamofire's defaults: two retries, 0.5 s first.
  public static var retryPolicy: RetryPolicy { RetryPolicy() }

  public static func retryPolicy(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5
  ) -> RetryPolicy {
    RetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale)
  }
}

extension Duration {
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
