import FoundationEssentials

/// The outcome of a request whose response is kept in memory. Its responses are made from it.
struct DataOutcome: RequestOutput {
  typealias Validation = @Sendable (TransferRequest, ResponseHead, Data?) -> ValidationResult

  /// The last request, as it was sent; if adapting failed, as it was described. `nil` if it could not be described.
  var request: TransferRequest?
  var head: ResponseHead?
  /// The body; `nil` where there is no response or the body is empty.
  var data: Data?
  var error: TransferError?
  /// One for each transfer, redirects and retries included.
  var metrics: [TransferMetrics] = []
}
