/// The session's authorities, and the host's name.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
  /// Whether the certificate must name the host (RFC 9110 §4.3.4).
  public let validateHost: Bool

  /// Trusts the session's authorities.
  public init(validateHost: Bool = true) { self.validateHost = validateHost }

  public func policy(forHost host: String) -> TrustPolicy { TrustPolicy(validatesHost: validateHost) }
}
