import FoundationEssentials

/// The server's certificate must be a known one.
///
/// With `acceptSelfSignedCertificates` the pinned certificates are the only authorities: the chain must contain one of
/// them. Without it the server's own certificate must equal a pinned one, and the session's authorities must have
/// signed it too. Unlike in Alamofire, a pinned authority further up the chain is not enough then.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
  /// The certificates of which the server must present one.
  public let certificates: [Certificate]
  /// Whether a pinned certificate may be its own authority.
  public let acceptSelfSignedCertificates: Bool
  /// Whether the session's authorities must have signed the certificate too. Without effect if self-signed certificates
  /// are accepted.
  public let performDefaultValidation: Bool
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Trusts a server that presents one of these certificates.
  public init(
    certificates: [Certificate], acceptSelfSignedCertificates: Bool = false, performDefaultValidation: Bool = true,
    validateHost: Bool = true
  ) {
    self.certificates = certificates
    self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  public func policy(forHost host: String) -> TrustPolicy {
    if acceptSelfSignedCertificates {
      return TrustPolicy(authorities: .certificates(certificates), validatesHost: validateHost)
    }
    return TrustPolicy(
      authorities: performDefaultValidation ? .system : .anybody, validatesHost: validateHost,
      certificates: Set(certificates))
  }
}
