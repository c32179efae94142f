/// No certificate of the chain may be on the revocation lists of a PEM file. A server is also refused if an authority
/// has no list there, or an outdated one. Lists are not downloaded, and OCSP is not used.
public struct RevocationTrustEvaluator: ServerTrustEvaluating {
  /// The TLS library reads it for each new connection.
  public let revocationListFile: String
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Refuses certificates that the lists in this PEM file revoke, in addition to the default validation. The file is
  /// read for each connection.
  public init(revocationListFile: String, validateHost: Bool = true) {
    self.revocationListFile = revocationListFile
    self.validateHost = validateHost
  }

  public func policy(forHost host: String) -> TrustPolicy {
    TrustPolicy(validatesHost: validateHost, revocationListFile: revocationListFile)
  }
}
