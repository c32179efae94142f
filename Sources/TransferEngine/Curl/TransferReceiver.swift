/// Receives the heads, facts and body bytes of one transfer. It is called on the transfer loop's thread and must not
/// block for long.
protocol TransferReceiver: AnyObject, Sendable {
  /// The head of an interim (1xx) response, `100 Continue` included.
  func receive(interim head: ResponseHead)
  /// The final response's head. An error ends the transfer with it.
  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict
  /// The facts about a file by a protocol other than HTTP; once, before its bytes. An error ends the transfer with it.
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict
  /// Body bytes, in order. An error ends the transfer with it. After `.pause` the same bytes come again.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict
  /// How much of the request's body libcurl has taken; called once before the first byte and after each piece. The
  /// total of a stream is known at its end.
  func didSend(_ progress: TransferProgress)
  /// Bytes that are read from the socket at a time, unless a rate limit demands less.
  var bufferSize: Int { get }
}

extension TransferReceiver {
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict { .takeBody }
  func receive(interim head: ResponseHead) {}
  func didSend(_ progress: TransferProgress) {}
  var bufferSize: Int { 256 * 1024 }
}
