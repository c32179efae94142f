/// Gets the outcome of its transfer on the loop's thread. Must not block and must not start a transfer.
protocol TransferSink: AnyObject, Sendable {
  func transferEnded(_ outcome: TransferOutcome)
}
