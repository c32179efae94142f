/// The outcome of a stream.
public struct StreamCompletion: Sendable {
  /// The last request: adapted and redirected as it was sent; if adapting failed, as it was described. `nil` if it
  /// could not be described.
  public var request: TransferRequest?
  /// The response's head; `nil` if there was none.
  public var response: ResponseHead?
  /// One for each transfer, redirects and retries included, in order.
  public var metrics: [TransferMetrics]
  /// Why the stream failed; `nil` after the whole body was delivered.
  public var error: TransferError?
}
