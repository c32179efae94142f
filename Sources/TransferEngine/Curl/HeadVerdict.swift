/// A receiver's decision about the body of a response, made when the head (or the facts of a file) has arrived.
enum HeadVerdict: Sendable {
  /// Deliver the body to the receiver.
  case takeBody
  /// Do not deliver the body. A short body is read to its end and discarded, so that the connection can be reused.
  case dropBody
  /// End the transfer now, without an error.
  case stop
}
