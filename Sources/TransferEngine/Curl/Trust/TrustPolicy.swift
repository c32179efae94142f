/// How a host must prove its identity in the TLS handshake. A value: evaluators make it, transfers apply it, and
/// `combined(with:)` combines two.
public struct TrustPolicy: Hashable, Sendable {
  /// Who may sign a server's certificate.
  public enum Authorities: Hashable, Sendable {
    /// The session's authorities: `SessionConfiguration.certificateAuthorityFile`, or the system's.
    case system
    /// Only these, whether they are roots or not; a chain may end at any of them.
    case certificates([Certificate])
    /// No signature is required.
    case anybody
  }

  /// Who may sign the server's certificate.
  public var authorities: Authorities
  /// The certificate must be for the host's name or address.
  public var validatesHost: Bool
  /// The server's own key must be one of these; `nil`: any key.
  public var publicKeys: Set<PublicKeyPin>?
  /// The server's own certificate must be one of these; `nil`: any certificate.
  public var certificates: Set<Certificate>?
  /// A PEM file of revocation lists: it must have a current list for each authority of the chain
  /// (`CURLOPT_CRLFILE(3)`).
  public var revocationListFile: String?

  /// A policy with these demands; all must be met.
  public init(
    authorities: Authorities = .system, validatesHost: Bool = true, publicKeys: Set<PublicKeyPin>? = nil,
    certificates: Set<Certificate>? = nil, revocationListFile: String? = nil
  ) {
    self.authorities = authorities
    self.validatesHost = validatesHost
    self.publicKeys = publicKeys
    self.certificates = certificates
    self.revocationListFile = revocationListFile
  }

  /// The session's authorities, and the host's name.
  public static let system = TrustPolicy()
  /// No demands: every server is accepted.
  public static let none = TrustPolicy(authorities: .anybody, validatesHost: false)

  /// Whether an attacker on the network could impersonate the server.
  public var provesNothing: Bool {
    (authorities == .anybody || !validatesHost && authorities == .system) && publicKeys == nil && certificates == nil
  }

  /// What satisfies both.
  /// - Throws: `.serverTrust(.conflictingEvaluators)` for two sets of authorities or two revocation lists, of which
  ///   libcurl takes one.
  public func combined(with other: TrustPolicy) throws(TransferError) -> TrustPolicy {
    TrustPolicy(
      authorities: try Self.combined(authorities, other.authorities),
      validatesHost: validatesHost || other.validatesHost,
      publicKeys: Self.intersection(publicKeys, other.publicKeys),
      certificates: Self.intersection(certificates, other.certificates),
      revocationListFile: try Self.one(of: revocationListFile, other.revocationListFile))
  }

  private static func combined(_ first: Authorities, _ second: Authorities) throws(TransferError) -> Authorities {
    if first == .anybody || first == second { return second }
    if second == .anybody { return first }
    throw .serverTrust(.conflictingEvaluators("one names other authorities than another"))
  }

  private static func intersection<Element>(_ first: Set<Element>?, _ second: Set<Element>?) -> Set<Element>? {
    guard let first, let second else { return first ?? second }
    return first.intersection(second)
  }

  private static func one(of first: String?, _ second: String?) throws(TransferError) -> String? {
    guard let first, let second, first != second else { return first ?? second }
    throw .serverTrust(.conflictingEvaluators("two revocation lists; put both into one file"))
  }
}
