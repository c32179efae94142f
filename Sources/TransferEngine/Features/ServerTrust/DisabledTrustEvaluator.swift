/// Does not verify servers: an attacker on the network can impersonate them. For tests. Each such host is reported once
/// in a session, as `RequestEvent.skipServerTrust` and as a warning in the log.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
  /// Does not verify servers. The session warns once for each host.
  public init() {}

  public func policy(forHost host: String) -> TrustPolicy { .none }
}
