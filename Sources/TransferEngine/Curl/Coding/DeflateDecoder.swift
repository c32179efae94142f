import CCoding

/// deflate in zlib's format (RFC 9110 §8.4.1.2), and raw deflate, which many servers send.
final class DeflateDecoder: StreamDecoder {
  private var inflater: Inflater?
  /// A first byte that arrived alone.
  private var first: UInt8?

  var isAtEnd: Bool { inflater?.isAtEnd ?? false }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int) {
    if let inflater { return try inflater.decode(input, into: output) }
    guard let head = first ?? input.first else { return (0, 0) }
    guard let second = first == nil ? input.dropFirst().first : input.first else {
      guard first == nil else { return (0, 0) }
      first = head
      return (1, 0)
    }
    // The header of zlib's format (RFC 1950 §2.2): method 8, and a checksum of both bytes.
    let isWrapped = head & 0x0F == 8 && (UInt16(head) << 8 | UInt16(second)) % 31 == 0
    let inflater = Inflater(isWrapped ? .zlib : .none)
    self.inflater = inflater
    if let first {
      let held = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
      defer { held.deallocate() }
      held[0] = first
      _ = try inflater.decode(UnsafeRawBufferPointer(held), into: output)  // too little for any output
    }
    return try inflater.decode(input, into: output)
  }
}
