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
