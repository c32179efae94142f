extension TransferError {
  /// What went wrong on the way through a proxy. `proxy` is its URL without credentials.
  public enum ProxyFailure: Sendable, Equatable {
    /// The proxy's name could not be resolved.
    case nameNotResolved(proxy: String)
    /// The proxy did not take the connection.
    case unreachable(proxy: String, reason: String)
    /// It wants to know who we are, and what it was told, if anything, does not satisfy it.
    case authenticationRequired(proxy: String)
    /// It does not let us through to the origin.
    case refused(proxy: String, reason: String, isTransient: Bool)
    /// The proxy's answer was not what its protocol says.
    case broken(proxy: String, reason: String)
  }
}

extension TransferError.ProxyFailure {
  var isTransient: Bool {
    switch self {
    case .nameNotResolved, .unreachable, .broken: true
    case .authenticationRequired: false
    case .refused(_, _, let isTransient): isTransient
    }
  }
}

extension TransferError.ProxyFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .nameNotResolved(let proxy): "cannot find the proxy \(proxy)"
    case .unreachable(let proxy, let reason): "cannot connect to the proxy \(proxy): \(reason)"
    case .authenticationRequired(let proxy):
      "the proxy \(proxy) wants to know who we are; check its user name and password"
    case .refused(let proxy, let reason, _): "the proxy \(proxy) does not let the request through: \(reason)"
    case .broken(let proxy, let reason): "the connection through the proxy \(proxy) broke: \(reason)"
    }
  }
}
