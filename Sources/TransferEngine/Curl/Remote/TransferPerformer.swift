/// Performs transfers of one kind: the loop for HTTP, the loops for file servers, the reader of local files.
protocol TransferPerformer: Sendable {
  /// Runs one transfer to its end.
  func perform(_ request: WireRequest, id: TransferID, receiver: any TransferReceiver) async -> TransferOutcome
  /// Ends a transfer with `.cancelled`. An unknown id belongs to a transfer that has just ended.
  func cancel(_ id: TransferID) async
  /// Continues a transfer whose receiver returned `.pause`.
  func unpause(_ id: TransferID) async
  /// Holds or releases a transfer, according to the current value of `TransferID.isHeld`.
  func adjustHold(_ id: TransferID) async
}

extension TransferLoop: TransferPerformer {}
