/// Who takes what a transfer brings. Both calls come on the transfer loop's thread and must not block for long.
protocol TransferReceiver: AnyObject, Sendable {
  /// An interim (1xx) response's head, `100 Continue` included.
  func receive(interim head: ResponseHead)
  /// The final response's head. An error ends the transfer with it.
  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict
  /// What is known of a file that comes by another protocol than HTTP; once, before its bytes. An error ends the transfer
  /// with it.
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict
  /// Body bytes, in order. An error ends the transfer with it. After `.pause` the same bytes come again.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict
  /// How much of the request's body libcurl has taken; once before the first byte, and after each piece. The total of a
  /// stream is there when it ended.
  func didSend(_ progress: TransferProgress)
  /// Bytes that are read from the socket at a time, if no rate limit says less.
  var bufferSize: Int { get }
}

extension TransferReceiver {
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict { .takeBody }
  func receive(interim head: ResponseHead) {}
  func didSend(_ progress: TransferProgress) {}
  var bufferSize: Int { 256 * 1024 }
}

enum HeadVerdict: Sendable {
  /// Body bytes are wanted.
  case takeBody
  /// The body is of no interest: read and dropped if short, so that the connection can serve again.
  case dropBody
  /// Nothing more is wanted: end now, without an error.
  case stop
}

enum BodyVerdict: Sendable {
  case taken
  /// Nothing was taken; hold the transfer until `TransferLoop.unpause`.
  case pause
  /// Nothing more is wanted: end now, without an error.
  case stop
}
