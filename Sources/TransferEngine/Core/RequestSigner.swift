/// Signs a request just before it is sent.
///
/// A download sends several requests in one attempt: for ranges, and for each of its connections. A signature is valid for a few
/// minutes only, so that an adapter, which is asked once for an attempt, is too early for it.
public protocol RequestSigner: Sendable {
  /// Returns the request to send. Called for every transfer, also after a redirect to the same origin; must return quickly.
  func signed(_ request: TransferRequest) -> TransferRequest
}
