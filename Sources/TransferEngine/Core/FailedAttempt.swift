/// An attempt that failed, for retriers.
public struct FailedAttempt: Sendable {
  /// The last request of the attempt; `nil` if the request could not be described.
  public var request: TransferRequest?
  /// The head of the attempt's response; `nil` if there was none.
  public var response: ResponseHead?
  /// Why the attempt failed.
  public var error: TransferError
  /// Retries so far; progress of a download resets it to 0.
  public var retryCount: Int
  /// The time since the request began, including delays.
  public var elapsed: Duration

  /// A failed attempt made by hand; the defaults are those of a first attempt.
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
