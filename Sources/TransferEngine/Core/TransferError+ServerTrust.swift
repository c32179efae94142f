extension TransferError {
  /// Why a server's identity was refused by the engine; refusals of the TLS library are `.connection(.tls)`.
  public enum ServerTrustFailure: Sendable, Equatable {
    /// All hosts must be evaluated, and this one has no evaluator.
    case noRequiredEvaluator(host: String)
    /// The server's key is not a pinned one.
    case publicKeyPinningFailed(host: String)
    /// The server's certificate is not a pinned one.
    case certificatePinningFailed(host: String)
    /// Evaluators whose demands exclude each other.
    case conflictingEvaluators(String)
    /// An evaluator threw.
    case evaluatorFailed(host: String, reason: String)
    /// A certificate, key or pin of the configuration cannot be parsed.
    case invalidCertificate(String)
  }
}

extension TransferError.ServerTrustFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noRequiredEvaluator(let host):
      "cannot talk with \(host): every host needs a trust evaluator, and it has none"
    case .publicKeyPinningFailed(let host): "cannot trust \(host): its key is none of those pinned"
    case .certificatePinningFailed(let host): "cannot trust \(host): its certificate is none of those pinned"
    case .conflictingEvaluators(let reason): "cannot combine the trust evaluators: \(reason)"
    case .evaluatorFailed(let host, let reason): "cannot evaluate the trust in \(host): \(reason)"
    case .invalidCertificate(let reason): "cannot use the certificate: \(reason)"
    }
  }
}
