extension Session {
  /// The addresses that this request may connect to.
  func addressRule(of request: TransferRequest) -> AddressRule {
    // A Unix socket has no IP address, and it is used for every host that a URL names.
    guard configuration.unixSocketPath == nil else { return .any }
    let isPublicOnly =
      request.requiresPublicAddress
      || request.isNamedByServer && (request.redirects ?? configuration.redirects) == .public
    return isPublicOnly ? .publicOnly(namedByServer: request.isNamedByServer) : .any
  }
}
