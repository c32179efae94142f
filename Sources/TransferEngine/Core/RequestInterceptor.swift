/// An adapter and a retrier. Both have defaults that do nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest { request }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult { .doNotRetry }
}
