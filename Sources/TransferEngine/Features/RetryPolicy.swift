public import HTTPTypes

/// Which failures are retried, and when. The names and defaults are Alamofire's, with a maximum delay, full jitter and
/// `Retry-After` added. A retried download continues instead of starting over.
public struct RetryPolicy: RequestInterceptor {
  /// Attempts after the first one.
  public var retryLimit: Int
  /// The factor between the upper bounds of consecutive delays.
  public var exponentialBackoffBase: Double
  /// In seconds; the upper bound of the first delay is scale × base⁰.
  public var exponentialBackoffScale: Double
  /// The longest delay that the policy chooses.
  public var maximumDelay: Duration
  /// The longest delay of a server's Retry-After that is honoured.
  public var maximumRetryAfter: Duration
  /// Methods that are retried.
  public var retryableHTTPMethods: Set<HTTPRequest.Method>
  /// Statuses that are retried.
  public var retryableHTTPStatusCodes: Set<Int>
  /// Kinds of failures without a status that are retried; Alamofire's `retryableURLErrorCodes`.
  public var retryableErrorCodes: Set<TransferError.Code>
  /// No attempt begins later than this after the start of the request; `nil` means no limit.
  public var deadline: Duration?

  /// Idempotent methods (RFC 9110 §9.2.2): a lost response does no harm.
  public static let defaultRetryableHTTPMethods: Set<HTTPRequest.Method> = [
    .delete, .get, .head, .options, .put, .trace,
  ]

  /// Alamofire's, and 423 (locked, RFC 4918 §11.3), 425 (RFC 8470), 429 (RFC 6585), 507 (RFC 4918) and Cloudflare's
  /// 520–524.
  public static let defaultRetryableHTTPStatusCodes: Set<Int> = TransientStatus.all

  /// Failures that may not occur again on the next attempt.
  public static let defaultRetryableErrorCodes: Set<TransferError.Code> = [
    .nameNotResolved,  // a name server that is out of reach looks the same as a name that does not exist
    .refused,
    .tlsInterrupted,
    .proxy,
    .timedOut,
    .stalled,
    .connectionLost,
    .truncated,
    .unrequestedPartialContent,  // a broken cache; the next attempt bypasses it
    .undecodable,  // the bytes may have been damaged in transit
    .diskFull,  // space may become free
    .fileIO,
    .streamStarved,
    .sourceUnsettled,  // the file may stop changing
    .uploadInterrupted,
    .remoteUnavailable,
    .journal,
    .transportInterrupted,
    // .unacceptableStatus: `retryableHTTPStatusCodes` decides
    // .invalidURL, .unsupportedScheme, .invalidResumeData: the same text will be read the same way
    // .cancelled: the user requested it
    // .serverTrust, .tlsRefused: a wrong certificate or pin; automatic retries would teach users to ignore it
    // .unacceptableContentType, .invalidContentLength, .headTooLarge, .bodyTooLarge, .malformed: the response would not
    // change
    // .redirect: loops and refused targets do not change
    // .verification: the whole file arrived, and it is not the expected one
    // .tooLarge, .destinationExists, .directoryMissing, .invalidName, .permission: only people can change that
    // .answeredEarly: it is unknown what the server stored
    // .notReplayable, .streamFailed, .alreadyRead: the bytes are gone
    // .hook: an adapter's, a retrier's or a validation's own failure is a decision
    // .parameters, .multipart, .serialization: the same values will be treated the same way
    // .transport: a retry is not known to help
  ]

  /// A policy with these limits; the defaults are Alamofire's for the parameters that it has. Durations are limits, not
  /// delays.
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
  public static func isTransient(status: Int) -> Bool { TransientStatus.all.contains(status) }

  /// The delay before the next attempt: full jitter below scale × base^(attempt − 1), limited. `Retry-After` is a lower
  /// bound, with up to a tenth added so that clients do not return all at once. Without a delay in it (`0`, or a time in
  /// the past) it says nothing: all attempts would be used up at once.
  /// - Parameters:
  ///   - attempt: failed attempts so far, 1 or more.
  ///   - retryAfter: the delay that the server asked for; `nil` for none.
  ///   - generator: the source of the jitter; a test passes its own.
  public func delay<Generator: RandomNumberGenerator>(
    forAttempt attempt: Int, retryAfter: Duration?, using generator: inout Generator
  ) -> Duration {
    if let retryAfter, retryAfter > .zero {
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

  /// Whether a failure of this kind is retried for a request with this method.
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
