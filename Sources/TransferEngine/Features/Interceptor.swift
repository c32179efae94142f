/// Several hooks as one. Adapters run in order, and the first failure ends the chain. The first retrier that does not
/// return `.doNotRetry` decides. A request's own hooks precede its session's by the same rule.
public struct Interceptor: RequestInterceptor {
  /// In order; interceptors last.
  public let adapters: [any RequestAdapter]
  /// In order; interceptors last.
  public let retriers: [any RequestRetrier]

  /// Combines these hooks, in this order.
  public init(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) {
    self.adapters = adapters + interceptors
    self.retriers = retriers + interceptors
  }

  /// Combines one adapter and one retrier.
  public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
    self.init(adapters: [adapter], retriers: [retrier])
  }

  /// Combines two closures.
  public init(adaptHandler: @escaping Adapter.Closure, retryHandler: @escaping Retrier.Closure) {
    self.init(adapter: Adapter(adaptHandler), retrier: Retrier(retryHandler))
  }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    for adapter in adapters { request = try await adapter.adapt(request, for: session) }
    return request
  }

  public func adapt(_ request: TransferRequest, using state: RequestAdapterState) async throws -> TransferRequest {
    var request = request
    for adapter in adapters { request = try await adapter.adapt(request, using: state) }
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
  /// An adapter from a closure.
  public static func adapter(using closure: @escaping Adapter.Closure) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
  /// A retrier from a closure.
  public static func retrier(using closure: @escaping Retrier.Closure) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
  /// Combines two closures.
  public static func interceptor(
    adapter: @escaping Adapter.Closure, retrier: @escaping Retrier.Closure
  ) -> Interceptor {
    Interceptor(adaptHandler: adapter, retryHandler: retrier)
  }

  /// Combines one adapter and one retrier.
  public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
    Interceptor(adapter: adapter, retrier: retrier)
  }

  /// Combines several hooks.
  public static func interceptor(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) -> Interceptor {
    Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
  }
}
