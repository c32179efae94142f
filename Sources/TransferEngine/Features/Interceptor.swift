/// A closure as an adapter.
public struct Adapter: RequestInterceptor {
  /// Returns the request as it is to be sent. What it throws fails the request, and retriers are asked.
  public typealias Closure = @Sendable (TransferRequest, Session) async throws -> TransferRequest

  private let closure: Closure

  /// Adapts by this closure, called for every attempt on one of Swift's threads.
  public init(_ closure: @escaping Closure) { self.closure = closure }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    try await closure(request, session)
  }
}

/// A closure as a retrier.
public struct Retrier: RequestInterceptor {
  /// Says whether another attempt follows.
  public typealias Closure = @Sendable (FailedAttempt, Session) async -> RetryResult

  private let closure: Closure

  /// Decides by this closure, called after every failure but a cancel, on one of Swift's threads.
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
  /// In the order they run, interceptors last.
  public let adapters: [any RequestAdapter]
  /// In the order they are asked, interceptors last.
  public let retriers: [any RequestRetrier]

  /// These hooks as one, in this order.
  public init(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) {
    self.adapters = adapters + interceptors
    self.retriers = retriers + interceptors
  }

  /// One adapter and one retrier as one hook.
  public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
    self.init(adapters: [adapter], retriers: [retrier])
  }

  /// Two closures as one hook.
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
  /// A closure as an adapter.
  public static func adapter(using closure: @escaping Adapter.Closure) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
  /// A closure as a retrier.
  public static func retrier(using closure: @escaping Retrier.Closure) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
  /// Two closures as one hook.
  public static func interceptor(
    adapter: @escaping Adapter.Closure, retrier: @escaping Retrier.Closure
  ) -> Interceptor {
    Interceptor(adaptHandler: adapter, retryHandler: retrier)
  }

  /// One adapter and one retrier as one hook.
  public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
    Interceptor(adapter: adapter, retrier: retrier)
  }

  /// Several hooks as one.
  public static func interceptor(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) -> Interceptor {
    Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
  }
}
