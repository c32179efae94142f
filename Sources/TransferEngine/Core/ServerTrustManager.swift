/// Maps hosts to evaluators.
public struct ServerTrustManager: Sendable {
  /// Whether a host without an evaluator is refused. If not, the default validation is used.
  public let allHostsMustBeEvaluated: Bool
  /// By host as in a URL, without port. `*.example.com` matches one more label, as in certificates (RFC 9525 §6.3):
  /// `www.example.com`, but neither `example.com` nor `a.b.example.com`. A host's own name has precedence.
  public let evaluators: [String: any ServerTrustEvaluating]
  private let normalized: [String: any ServerTrustEvaluating]

  /// One evaluator for each host. A host without one fails if `allHostsMustBeEvaluated` is true; otherwise the
  /// session's authorities decide.
  public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
    self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    self.evaluators = evaluators
    normalized = Dictionary(
      evaluators.map { (Self.normalized($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// - Returns: `nil` if there is none, and none is required.
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

  /// In lower case, without brackets and without the trailing dot of an absolute name: `Example.com.` is `example.com`.
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
