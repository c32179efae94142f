/// Combines evaluators: the demands of all must be met.
public struct CompositeTrustEvaluator: ServerTrustEvaluating {
  /// The combined evaluators.
  public let evaluators: [any ServerTrustEvaluating]

  /// Combines these evaluators; without any, the system's authorities decide.
  public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

  /// - Throws: `.serverTrust(.conflictingEvaluators)`; see `TrustPolicy.combined(with:)`.
  public func policy(forHost host: String) throws -> TrustPolicy {
    guard let first = evaluators.first else { return .system }
    return try evaluators.dropFirst().reduce(first.policy(forHost: host)) { policy, evaluator in
      try policy.combined(with: evaluator.policy(forHost: host))
    }
  }
}
