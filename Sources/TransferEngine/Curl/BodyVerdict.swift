/// A receiver's decision about the bytes of a body that were delivered to it.
enum BodyVerdict: Sendable {
  /// The receiver has taken all of the bytes.
  case taken
  /// The receiver has taken none of the bytes. Pause the transfer until `TransferLoop.unpause` and deliver them again.
  case pause
  /// The receiver needs no more bytes. End the transfer now, without an error.
  case stop
}
