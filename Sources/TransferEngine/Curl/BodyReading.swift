/// A source of a request's body for libcurl. Used on the transfer loop's thread only.
protocol BodyReading: AnyObject {
  var size: Int64 { get }
  /// Bytes that were handed over since the beginning.
  var position: Int64 { get }
  /// The number of bytes read; 0 at the end; `TRANSFER_READFUNC_PAUSE` to be called again after `TransferLoop.unpause`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int
  /// Goes to a position, because libcurl sends again; false if that is not possible.
  func seek(to offset: Int64) -> Bool
  func close()
}
