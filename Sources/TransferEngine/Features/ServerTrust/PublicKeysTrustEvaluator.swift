/// The server's own key must be a known one. A new certificate for the same key is accepted.
///
/// Unlike in Alamofire, the keys of authorities further up the chain are not compared: use
/// `CertificateAuthorityEvaluator` for an authority.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
  /// The keys of which the server's certificate must have one.
  public let keys: [PublicKeyPin]
  /// Whether the chain must also end at one of the session's authorities.
  public let performDefaultValidation: Bool
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Trusts a server with one of these keys, in addition to the default validation unless that is off.
  public init(keys: [PublicKeyPin], performDefaultValidation: Bool = true, validateHost: Bool = true) {
    self.keys = keys
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  public func policy(forHost host: String) -> TrustPolicy {
    TrustPolicy(
      authorities: performDefaultValidation ? .system : .anybody, validatesHost: validateHost,
      publicKeys: Set(keys))
  }
}
