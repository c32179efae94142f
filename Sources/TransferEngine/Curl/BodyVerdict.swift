enum BodyVerdict: Sendable {
  case taken
  /// Nothing was taken; pause the transfer until `TransferLoop.unpause`.
  case pause
  /// No more is wanted: end now, without an error.
  case stop
}
