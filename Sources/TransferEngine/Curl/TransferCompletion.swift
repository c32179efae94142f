/// The recipient of a transfer's outcome. It gets the outcome once, on the loop's thread.
enum TransferCompletion {
  /// A task that waits for this transfer alone.
  case resume(CheckedContinuation<TransferOutcome, Never>)
  /// An object that collects the outcomes of many transfers.
  case deliver(any TransferSink)

  func callAsFunction(_ outcome: TransferOutcome) {
    switch self {
    case .resume(let continuation): continuation.resume(returning: outcome)
    case .deliver(let sink): sink.transferEnded(outcome)
    }
  }
}
