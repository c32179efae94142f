public import FoundationEssentials

/// Custom certificate authorities instead of the system's.
public struct CertificateAuthorityEvaluator: ServerTrustEvaluating {
  /// The authorities that replace the system's.
  public let certificates: [Certificate]
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Trusts certificates that these authorities have signed.
  public init(certificates: [Certificate], validateHost: Bool = true) {
    self.certificates = certificates
    self.validateHost = validateHost
  }

  /// - Parameters:
  ///   - pem: one or more certificates.
  ///   - validateHost: whether the certificate must name the host.
  /// - Throws: `.serverTrust(.invalidCertificate)`.
  public init(pem: Data, validateHost: Bool = true) throws(TransferError) {
    let text = String(decoding: pem, as: UTF8.self)
    self.init(certificates: try Certificate.certificates(inPEM: text), validateHost: validateHost)
  }

  /// - Parameters:
  ///   - path: a PEM file, read now and not again.
  ///   - validateHost: whether the certificate must name the host.
  /// - Throws: `.file`, `.serverTrust(.invalidCertificate)`.
  public init(file path: String, validateHost: Bool = true) throws(TransferError) {
    self.init(certificates: try Certificate.certificates(inFile: path), validateHost: validateHost)
  }

  public func policy(forHost host: String) -> TrustPolicy {
    TrustPolicy(authorities: .certificates(certificates), validatesHost: validateHost)
  }
}
