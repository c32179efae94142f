import CCoding

/// Decodes with zlib's inflate, in one of its formats.
final class Inflater {
  private var stream = z_stream()
  private(set) var isAtEnd = false

  enum Wrapping: Int32 {
    case gzip = 31
    case zlib = 15
    case none = -15
  }

  init(_ wrapping: Wrapping) {
    let code = coding_inflate_begin(&stream, wrapping.rawValue)
    precondition(code == Z_OK, "inflateInit2: \(code)")  // only for want of memory
  }

  deinit { inflateEnd(&stream) }

  /// Begins another stream of the same format.
  func restart() {
    inflateReset(&stream)
    isAtEnd = false
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int) {
    guard !isAtEnd else { return (0, 0) }
    stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
    stream.avail_in = UInt32(clamping: input.count)
    stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
    stream.avail_out = UInt32(clamping: output.count)
    let (before, space) = (stream.avail_in, stream.avail_out)
    switch inflate(&stream, Z_NO_FLUSH) {
    case Z_STREAM_END: isAtEnd = true
    case Z_OK, Z_BUF_ERROR: break  // the latter: nothing to do without more input
    default: throw .response(.undecodable(stream.msg.map { String(cString: $0) } ?? "damaged"))
    }
    return (Int(before - stream.avail_in), Int(space - stream.avail_out))
  }
}

/// RFC 1952, one member or several in sequence (§2.2).
final class GzipDecoder: StreamDecoder {
  private let inflater = Inflater(.gzip)
  private var isBetweenMembers = false

  var isAtEnd: Bool { isBetweenMembers }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int) {
    if isBetweenMembers {
      guard let first = input.first else { return (0, 0) }
      guard first == 0x1F else { return (0, 0) }  // what follows is no member
      inflater.restart()
      isBetweenMembers = false
    }
    let result = try inflater.decode(input, into: output)
    isBetweenMembers = inflater.isAtEnd
    return result
  }
}
