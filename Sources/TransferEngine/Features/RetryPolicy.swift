public import HTTPTypes

/// Which failures are tried again, and when: Alamofire's names and defaults, with what it lacks — a cap, full jitter,
/// `Retry-After` — and without its fault, a retry that starts over.
public struct RetryPolicy: RequestInterceptor {
  /// Tries after the first one.
  public var retryLimit: Int
  /// What each delay's upper bound is multiplied by to get the next.
  public var exponentialBackoffBase: Double
  /// Seconds; the first delay's upper bound is scale × base⁰.
  public var exponentialBackoffScale: Double
  /// No delay of our own is longer.
  public var maximumDelay: Duration
  /// No delay that a server asks for is honoured beyond this.
  public var maximumRetryAfter: Duration
  /// Methods that are tried again.
  public var retryableHTTPMethods: Set<HTTPRequest.Method>
  /// Statuses that are tried again.
  public var retryableHTTPStatusCodes: Set<Int>
  /// Kinds of failures without a status; what Alamofire calls `retryableURLErrorCodes`.
  public var retryableErrorCodes: Set<TransferError.Code>
  /// No try begins later than this after the request began; `nil`: no such bound.
  public var deadline: Duration?

  /// RFC 9110 §9.2.2: idempotent, so a lost answer does no harm.
  public static let defaultRetryableHTTPMethods: Set<HTTPRequest.Method> = [
    .delete, .get, .head, .options, .put, .trace,
  ]

  /// Alamofire's, and 423 (RFC 4918 §11.3: locked by another), 425 (RFC 8470), 429 (RFC 6585), 507 (RFC 4918) and
  /// Cloudflare's 520–524.
  public static let defaultRetryableHTTPStatusCodes: Set<Int> = [
    408, 423, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524,
  ]

  /// Those that may be gone the next time.
  public static let defaultRetryableErrorCodes: Set<TransferError.Code> = [
    .nameNotResolved,  // a name server may be out of reach for a while, and says the same of names that do not exist
    .refused,
    .tlsInterrupted,
    .proxy,
    .timedOut,
    .stalled,
    .connectionLost,
    .truncated,
    .unrequestedPartialContent,  // a broken cache, which the next try goes past
    .undecodable,  // bytes were spoiled on the way
    .diskFull,  // people free space
    .fileIO,
    .streamStarved,
    .sourceUnsettled,  // the file may come to rest
    .uploadInterrupted,
    .remoteUnavailable,
    .journal,
    .transportInterrupted,
    // .unacceptableStatus: `retryableHTTPStatusCodes` decides
    // .invalidURL, .unsupportedScheme, .invalidResumeData: the same text will be read the same way
    // .cancelled: it was wished for
    // .serverTrust, .tlsRefused: a certificate that is wrong, or a pin; trying on would ask users to get used to it
    // .unacceptableContentType, .invalidContentLength, .headTooLarge, .bodyTooLarge, .malformed: the server means it
    // .redirect: loops and refused targets stay
    // .verification: the whole file came, and is another one
    // .destinationExists, .directoryMissing, .invalidName, .permission: only people can change that
    // .answeredEarly: what the server keeps is unknown
    // .notReplayable, .streamFailed, .alreadyRead: the bytes are gone
    // .hook: an adapter's, a retrier's or a validation's own failure is a decision
    // .parameters, .multipart, .serialization: the same values will be treated the same way
    // .transport: not known to be worth it
  ]

  /// A policy with these limits; the defaults are Alamofire's where it has the parameter. Durations are limits, not
  /// waits.
  public init(
    retryLimit: Int = 2, exponentialBackoffBase: Double = 2, exponentialBackoffScale: Double = 0.5,
    maximumDelay: Duration = .seconds(300), maximumRetryAfter: Duration = .seconds(86400),
    retryableHTTPMethods: Set<HTTPRequest.Method> = RetryPolicy.defaultRetryableHTTPMethods,
    retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
    retryableErrorCodes: Set<TransferError.Code> = RetryPolicy.defaultRetryableErrorCodes, deadline: Duration? = nil
  ) {
    self.retryLimit = retryLimit
    self.exponentialBackoffBase = exponentialBackoffBase
    self.exponentialBackoffScale = exponentialBackoffScale
    self.maximumDelay = maximumDelay
    self.maximumRetryAfter = maximumRetryAfter
    self.retryableHTTPMethods = retryableHTTPMethods
    self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
    self.retryableErrorCodes = retryableErrorCodes
    self.deadline = deadline
  }

  /// Statuses after which the same request may succeed.
  public static func isTransient(status: Int) -> Bool { defaultRetryableHTTPStatusCodes.contains(status) }

  /// How long to wait before the try after `attempt` failed ones: full jitter below scale × base^(attempt − 1),
  /// capped. `Retry-After` is a floor, with up to a tenth on top so that not all come back at once.
  /// - Parameter attempt: failed tries so far, 1 or more.
  /// - Parameter generator: where the jitter comes from; a test gives its own.
  /// - Parameter retryAfter: what the server asked for; `nil`: nothing.
  public func delay<Generator: RandomNumberGenerator>(
    forAttempt attempt: Int, retryAfter: Duration?, using generator: inout Generator
  ) -> Duration {
    if let retryAfter {
      let asked = max(.zero, min(retryAfter, maximumRetryAfter))
      let spread = min(asked.inSeconds * 0.1, 10)
      return asked + .seconds(Double.random(in: 0...max(0, spread), using: &generator))
    }
    var bound = exponentialBackoffScale
    for _ in 1..<max(1, attempt) {
      bound *= exponentialBackoffBase
      if bound >= maximumDelay.inSeconds { break }
    }
    return .seconds(Double.random(in: 0...max(0, min(bound, maximumDelay.inSeconds)), using: &generator))
  }

  /// Whether a failure of this kind, of a request of this method, is tried again at all.
  public func shouldRetry(_ method: HTTPRequest.Method, dueTo error: TransferError) -> Bool {
    guard retryableHTTPMethods.contains(method) else { return false }
    return error.status.map(retryableHTTPStatusCodes.contains) ?? retryableErrorCodes.contains(error.code)
  }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    guard attempt.retryCount < retryLimit, let method = attempt.request?.method,
      shouldRetry(method, dueTo: attempt.error)
    else { return .doNotRetry }
    var generator = SystemRandomNumberGenerator()
    let delay = delay(
      forAttempt: attempt.retryCount + 1, retryAfter: attempt.error.retryAfter, using: &generator)
    if let deadline, attempt.elapsed + delay > deadline { return .doNotRetry }
    return .retryWithDelay(delay)
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    await retry(FailedAttempt(request: request, error: error, retryCount: retryCount), for: session)
  }
}

/// Tries again only where the connection was lost in mid-transfer.
public struct ConnectionLostRetryPolicy: RequestInterceptor {
  /// The policy that decides, for these failures.
  public let policy: RetryPolicy

  /// A policy for lost connections alone, for the methods that may be repeated.
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
  /// Tries lost connections again, with the default limits.
  public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

  /// Tries lost connections again, with these limits.
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
