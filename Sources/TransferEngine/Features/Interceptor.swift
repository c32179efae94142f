/// A closure as an adapter.
public struct Adapter: RequestInterceptor {
  public typealias Closure = @Sendable (TransferRequest, Session) async throws -> TransferRequest

  private let closure: Closure

  public init(_ closure: @escaping Closure) { self.closure = closure }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    try await closure(request, session)
  }
}

/// A closure as a retrier.
public struct Retrier: RequestInterceptor {
  public typealias Closure = @Sendable (FailedAttempt, Session) async -> RetryResult

  private let closure: Closure

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

/// Several hooks as one: adapters run in order and the first failure ends the chain; the first retrier that does not
/// say `.doNotRetry` decides. A request's own hooks come before its session's by the same rule.
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

  public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
    self.init(adapters: [adapter], retriers: [retrier])
  }

  public init(adaptHandler: @escaping Adapter.Closure, retryHandler: @escaping Retrier.Closure) {
    self.init(adapter: Adapter(adaptHandler), retrier: Retrier(retryHandler))
  }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    for adapter in adapters { request = try await adapter.adapt(request, for: session) }
    return request
  }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    for retrier in retriers {
      let result = await retrier.retry(attempt, for: session)
      if case .doNotRetry = result { continue }
      return result
    }
    return .doNotRetry
  }

  public func retry(
    _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
  ) async -> RetryResult {
    await retry(FailedAttempt(request: request, error: error, retryCount: retryCount), for: session)
  }
}

extension RequestAdapter where Self == Adapter {
  public static func adapter(using closure: @escaping Adapter.Closure) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
  public static func retrier(using closure: @escaping Retrier.Closure) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
  public static func interceptor(
    adapter: @escaping Adapter.Closure, retrier: @escaping Retrier.Closure
  ) -> Interceptor {
    Interceptor(adaptHandler: adapter, retryHandler: retrier)
  }

  public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
    Interceptor(adapter: adapter, retrier: retrier)
  }

  public static func interceptor(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) -> Interceptor {
    Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
  }
}
