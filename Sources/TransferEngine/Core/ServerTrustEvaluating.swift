/// Decides how a host must prove its identity in the TLS handshake.
///
/// Alamofire passes the finished chain to an evaluator. Here an evaluator returns a policy beforehand: libcurl's TLS
/// library enforces it before a byte of the request is sent.
public protocol ServerTrustEvaluating: Sendable {
  /// Called for each transfer to the host, on any thread.
  /// - Throws: anything; the request fails before it is sent.
  func policy(forHost host: String) throws -> TrustPolicy
}
