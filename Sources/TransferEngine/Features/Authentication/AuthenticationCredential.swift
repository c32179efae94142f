/// A credential that an `Authenticator` applies to requests, such as a token with its time of expiry.
public protocol AuthenticationCredential: Sendable {
  /// Whether the credential has to be refreshed before it can be used.
  var requiresRefresh: Bool { get }
}
