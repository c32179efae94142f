public import FoundationEssentials

/// Says what the TLS handshake with a host must prove.
///
/// Where Alamofire hands an evaluator the finished chain, here it gives a policy beforehand: libcurl's TLS library checks
/// it before a byte of the request is sent.
public protocol ServerTrustEvaluating: Sendable {
  /// Asked for each hop to the host, from any thread.
  /// - Throws: anything; the request fails before it is sent.
  func policy(forHost host: String) throws -> TrustPolicy
}

/// The session's authorities, and the host's name.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
  /// Whether the certificate must name the host (RFC 9110 §4.3.4).
  public let validateHost: Bool

  /// The system's roots.
  public init(validateHost: Bool = true) { self.validateHost = validateHost }

  public func policy(forHost host: String) -> TrustPolicy { TrustPolicy(validatesHost: validateHost) }
}

/// Own authorities in the place of the system's.
public struct CertificateAuthorityEvaluator: ServerTrustEvaluating {
  /// The authorities, in place of the system's.
  public let certificates: [Certificate]
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Believes what these authorities have signed.
  public init(certificates: [Certificate], validateHost: Bool = true) {
    self.certificates = certificates
    self.validateHost = validateHost
  }

  /// - Parameter pem: one or more certificates.
  /// - Parameter validateHost: whether the certificate must name the host.
  /// - Throws: `.serverTrust(.invalidCertificate)`.
  public init(pem: Data, validateHost: Bool = true) throws(TransferError) {
    let text = String(decoding: pem, as: UTF8.self)
    self.init(certificates: try Certificate.certificates(inPEM: text), validateHost: validateHost)
  }

  /// - Parameter path: a PEM file, read now and not again.
  /// - Parameter validateHost: whether the certificate must name the host.
  /// - Throws: `.file`, `.serverTrust(.invalidCertificate)`.
  public init(file path: String, validateHost: Bool = true) throws(TransferError) {
    self.init(certificates: try Certificate.certificates(inFile: path), validateHost: validateHost)
  }

  public func policy(forHost host: String) -> TrustPolicy {
    TrustPolicy(authorities: .certificates(certificates), validatesHost: validateHost)
  }
}

/// The server's own key must be one that is known. A new certificate for the same key is fine.
///
/// Other than Alamofire's, the keys of authorities further up the chain are not looked at: name an authority with
/// `CertificateAuthorityEvaluator` instead.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
  /// Keys of which the server's certificate must have one.
  public let keys: [PublicKeyPin]
  /// The chain must end at one of the session's authorities too.
  public let performDefaultValidation: Bool
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Believes a server that has one of these keys, on top of the default check unless that is declined.
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

/// The server's certificate must be one that is known.
///
/// With `acceptSelfSignedCertificates` the pinned certificates are the only authorities: the chain must begin at, lead
/// over or end at one of them, and nobody else's word counts. Without it the server's own certificate must be a pinned
/// one, byte for byte, and the session's authorities must vouch for it as well; an authority further up the chain does
/// not do then, other than in Alamofire.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
  /// Certificates of which the server must show one.
  public let certificates: [Certificate]
  /// Whether a pinned certificate may be its own authority.
  public let acceptSelfSignedCertificates: Bool
  /// The session's authorities must vouch for the certificate too. Of no effect where self-signed ones are accepted.
  public let performDefaultValidation: Bool
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Believes a server that shows one of these certificates.
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

/// No certificate of the chain may stand on the revocation lists of a PEM file. An authority without a list there, and a
/// list that is out of date, refuse the server too. Lists are not fetched, and OCSP is not asked.
public struct RevocationTrustEvaluator: ServerTrustEvaluating {
  /// Read by the TLS library for each new connection.
  public let revocationListFile: String
  /// Whether the certificate must name the host.
  public let validateHost: Bool

  /// Refuses what the list in this PEM file revokes, on top of the default check. The file is read for each
  /// connection.
  public init(revocationListFile: String, validateHost: Bool = true) {
    self.revocationListFile = revocationListFile
    self.validateHost = validateHost
  }

  public func policy(forHost host: String) -> TrustPolicy {
    TrustPolicy(validatesHost: validateHost, revocationListFile: revocationListFile)
  }
}

/// Everybody is believed: whoever sits between can be the server. For tests. Each host that is met so is reported once a
/// session, as `RequestEvent.skipServerTrust` and as a warning in the log.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
  /// Believes whoever answers. The session warns once a host.
  public init() {}

  public func policy(forHost host: String) -> TrustPolicy { .none }
}

/// Satisfied when all of its evaluators are.
public struct CompositeTrustEvaluator: ServerTrustEvaluating {
  /// All of which must be content.
  public let evaluators: [any ServerTrustEvaluating]

  /// Content where all of these are; where there are none, the system's roots decide.
  public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

  /// - Throws: `.serverTrust(.conflictingEvaluators)`; see `TrustPolicy.combined(with:)`.
  public func policy(forHost host: String) throws -> TrustPolicy {
    guard let first = evaluators.first else { return .system }
    return try evaluators.dropFirst().reduce(first.policy(forHost: host)) { policy, evaluator in
      try policy.combined(with: evaluator.policy(forHost: host))
    }
  }
}
