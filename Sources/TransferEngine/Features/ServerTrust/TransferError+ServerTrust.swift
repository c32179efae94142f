extension TransferError {
  /// Why a server is not believed, where it is ours to say; what the TLS library says is `.connection(.tls)`.
  public enum ServerTrustFailure: Sendable, Equatable {
    /// All hosts must be evaluated, and there is no evaluator for this one.
    case noRequiredEvaluator(host: String)
    /// The server's key is none of those pinned.
    case publicKeyPinningFailed(host: String)
    /// The server's certificate is none of those pinned.
    case certificatePinningFailed(host: String)
    /// Evaluators that cannot be satisfied together.
    case conflictingEvaluators(String)
    /// An evaluator threw.
    case evaluatorFailed(host: String, reason: String)
    /// A certificate, key or pin of our own that cannot be read.
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
