/// Changes a request before it is sent, in every attempt anew, so that late-bound credentials work.
public protocol RequestAdapter: Sendable {
  /// - Throws: anything; the request fails with `TransferError.hook(.adapter, …)`.
  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest
}

/// Decides what follows a failed attempt.
public protocol RequestRetrier: Sendable {
  /// - Parameter retryCount: retries so far; progress sets it back to 0.
  func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult
}

public enum RetryResult: Sendable {
  case retry
  case retryWithDelay(Duration)
  case doNotRetry
  /// Fails the request with this error instead.
  case doNotRetryWithError(any Error)
}

/// Both hooks. Each has a default that does nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest { request }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult { .doNotRetry }
}

/// Several hooks as one: adapters run in order and the first failure ends the chain; the first retrier that does not
/// say `.doNotRetry` decides.
public struct Interceptor: RequestInterceptor {
  public let adapters: [any RequestAdapter]
  public let retriers: [any RequestRetrier]

  public init(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) {
    self.adapters = adapters + interceptors
    self.retriers = retriers + interceptors
  }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    for adapter in adapters { request = try await adapter.adapt(request, for: session) }
    return request
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    for retrier in retriers {
      let result = await retrier.retry(request, for: session, dueTo: error, retryCount: retryCount)
      if case .doNotRetry = result { continue }
      return result
    }
    return .doNotRetry
  }
}
