/// Decodes one coded stream. Reads and writes as much as possible; an empty input flushes what is still inside.
protocol StreamDecoder: AnyObject {
  /// - Throws: `.response(.undecodable)`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int)
  /// The stream has ended correctly, and no other one has begun.
  var isAtEnd: Bool { get }
}
