extension TransferError {
  /// Why a connection through a proxy failed. `proxy` is its URL without credentials.
  public enum ProxyFailure: Sendable, Equatable {
    /// The proxy's name could not be resolved.
    case nameNotResolved(proxy: String)
    /// The proxy did not accept the connection.
    case unreachable(proxy: String, reason: String)
    /// The proxy demands credentials, or does not accept those that were sent.
    case authenticationRequired(proxy: String)
    /// The proxy does not allow the connection to the origin.
    case refused(proxy: String, reason: String, isTransient: Bool)
    /// The proxy's response breaks its protocol.
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
      "the proxy \(proxy) requires authentication; check its user name and password"
    case .refused(let proxy, let reason, _): "the proxy \(proxy) does not let the request through: \(reason)"
    case .broken(let proxy, let reason): "the connection through the proxy \(proxy) broke: \(reason)"
    }
  }
}
