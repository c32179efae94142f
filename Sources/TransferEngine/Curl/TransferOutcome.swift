/// How a transfer ended.
enum TransferOutcome: Sendable {
  /// libcurl succeeded, or the receiver stopped the transfer. `head` is `nil` only for protocols without one.
  case finished(head: ResponseHead?, metrics: TransferMetrics)
  case failed(TransferError, head: ResponseHead?, metrics: TransferMetrics)
  /// - Parameter metrics: `nil` if the transfer had not begun.
  case cancelled(metrics: TransferMetrics?)

  var metrics: TransferMetrics? {
    switch self {
    case .finished(_, let metrics), .failed(_, _, let metrics): metrics
    case .cancelled(let metrics): metrics
    }
  }
}
