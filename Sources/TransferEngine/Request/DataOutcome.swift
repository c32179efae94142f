import FoundationEssentials
import HTTPTypes

/// How a request whose answer is kept in memory ended: what its responses are made of.
struct DataOutcome: RequestOutput {
  typealias Validation = @Sendable (TransferRequest, ResponseHead, Data?) -> ValidationResult

  /// What was sent last; `nil` where nothing was.
  var request: TransferRequest?
  var head: ResponseHead?
  /// What arrived; `nil` without an answer or a body.
  var data: Data?
  var error: TransferError?
  /// Of every transfer: redirects and tries.
  var metrics: [TransferMetrics] = []
}
