/// Which of the URLs that servers name are followed: `Location` in redirects, of created uploads and of resumable ones.
public enum RedirectPolicy: String, Sendable, Hashable, CaseIterable {
  /// Only URLs of the origin that named them.
  case sameOrigin = "same-origin"
  /// Only URLs whose host has an address on the public Internet (`IPAddress.isPublic`). The address that is connected to is
  /// what counts, not the one that the name had a moment ago.
  case `public`
  /// All that `RedirectRule` allows.
  case any
}

/// The addresses that a transfer may connect to.
enum AddressRule: Sendable, Equatable {
  case any
  /// Addresses on the public Internet.
  /// - Parameter namedByServer: whether a server named the URL, and not the user; decides what a refusal is called.
  case publicOnly(namedByServer: Bool)
}

extension Session {
  /// The addresses that this request may connect to.
  func addressRule(of request: TransferRequest) -> AddressRule {
    // A Unix socket has no address, and stands for whatever host the URL names.
    guard configuration.unixSocketPath == nil else { return .any }
    let isPublicOnly =
      request.requiresPublicAddress
      || request.isNamedByServer && (request.redirects ?? configuration.redirects) == .public
    return isPublicOnly ? .publicOnly(namedByServer: request.isNamedByServer) : .any
  }
}
