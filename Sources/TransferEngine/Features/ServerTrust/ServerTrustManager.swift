/// Which evaluator looks at which host.
public struct ServerTrustManager: Sendable {
  /// A host without an evaluator is refused. Otherwise it is met as without a manager.
  public let allHostsMustBeEvaluated: Bool
  /// By host as in a URL, without port. `*.example.com` is for one more label, as in certificates (RFC 9525 §6.3):
  /// for `www.example.com`, not for `example.com` or `a.b.example.com`. A host's own name comes first.
  public let evaluators: [String: any ServerTrustEvaluating]
  private let normalized: [String: any ServerTrustEvaluating]

  /// One evaluator for each host; a host without one fails if `allHostsMustBeEvaluated`, else the system's roots
  /// decide.
  public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
    self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    self.evaluators = evaluators
    normalized = Dictionary(
      evaluators.map { (Self.normalized($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// - Returns: `nil` where there is none, and none is needed.
  /// - Throws: `.serverTrust(.noRequiredEvaluator)`.
  public func serverTrustEvaluator(forHost host: String) throws(TransferError) -> (any ServerTrustEvaluating)? {
    let name = Self.normalized(host)
    if let evaluator = normalized[name] { return evaluator }
    if !Self.isAddress(name), let dot = name.firstIndex(of: "."), let evaluator = normalized["*" + name[dot...]] {
      return evaluator
    }
    guard !allHostsMustBeEvaluated else { throw .serverTrust(.noRequiredEvaluator(host: host)) }
    return nil
  }

  func policy(forHost host: String) throws(TransferError) -> TrustPolicy {
    guard let evaluator = try serverTrustEvaluator(forHost: host) else { return .system }
    do {
      return try evaluator.policy(forHost: host)
    } catch let error as TransferError {
      throw error
    } catch {
      throw .serverTrust(.evaluatorFailed(host: host, reason: "\(error)"))
    }
  }

  /// Lower case, without brackets and without the dot that ends an absolute name: `Example.com.` is `example.com`.
  private static func normalized(_ host: String) -> String {
    var host = host.lowercased()[...]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    if host.last == "." { host = host.dropLast() }
    return String(host)
  }

  private static func isAddress(_ host: String) -> Bool {
    host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
  }
}
