import WireValues

/// Decodes a body's content coding (RFC 9110 §8.4.1) before the receiver gets it.
///
/// libcurl's own decoding is not used: it accepts a coded stream that ends early, as long as Content-Length is right.
final class ContentDecoder {
  private let decoder: any StreamDecoder
  private let limit: DecodingLimit
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
  /// The part of `buffer` that the receiver has not taken.
  private var pending = 0..<0
  /// Bytes of the current piece that are decoded. The same piece comes again after a pause.
  private var consumed = 0
  private var encoded: Int64 = 0
  private var decoded: Int64 = 0

  /// Bytes that may decode to next to nothing. A head's comment and empty blocks can go on without end, and neither the
  /// disk nor a limit for the file would end that.
  private static let idleBytes: Int64 = 16 << 20

  /// The value of `Accept-Encoding` for bodies that are decoded.
  static let acceptEncoding = "gzip, deflate, br, zstd"

  /// - Throws: `.response(.undecodable)` for an unknown coding.
  init(coding: String, limit: DecodingLimit) throws(TransferError) {
    self.limit = limit
    switch coding {
    case "gzip", "x-gzip": decoder = GzipDecoder()
    case "deflate": decoder = DeflateDecoder()
    case "br": decoder = try BrotliDecoder()
    case "zstd": decoder = try ZstandardDecoder()
    default: throw .response(.undecodable("unknown coding \"\(RemoteErrors.printable(coding))\""))
    }
  }

  deinit { buffer.deallocate() }

  /// Passes on what a piece decodes to. After `.pause` the same piece must come again.
  func take(
    _ bytes: UnsafeRawBufferPointer,
    _ receive: (UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict
  ) throws(TransferError) -> BodyVerdict {
    while true {
      if !pending.isEmpty {
        let verdict = try handOn(receive)
        guard case .taken = verdict else { return verdict }
        pending = 0..<0
      }
      let (read, written) = try step(.init(rebasing: bytes[consumed...]))
      consumed += read
      encoded = encoded.saturatingSum(Int64(read))
      decoded = decoded.saturatingSum(Int64(written))
      pending = 0..<written  // checked: the decoder counts what it wrote
      if let limit = limit.exceeded(decoded: decoded, encoded: encoded) {
        throw .response(.bodyTooLarge(limit: Int(clamping: limit)))
      }
      if encoded > Self.idleBytes, encoded / 8 > decoded {  // checked: a division by 8
        throw .response(.undecodable("\(encoded) bytes of it are only \(decoded) bytes of content"))
      }
      if written == 0, consumed == bytes.count {
        consumed = 0
        return .taken
      }
    }
  }

  /// - Throws: `.response(.undecodable)` if the stream has begun and not ended.
  func finish() throws(TransferError) {
    guard decoder.isAtEnd || encoded == 0 else {
      throw .response(.undecodable("it ends early, after \(encoded) bytes"))
    }
  }

  private func handOn(
    _ receive: (UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict
  ) throws(TransferError) -> BodyVerdict {
    try receive(.init(rebasing: buffer[..<pending.count]))
  }

  private func step(_ input: UnsafeRawBufferPointer) throws(TransferError) -> (read: Int, written: Int) {
    let result = try decoder.decode(input, into: buffer)
    // No progress: the stream has ended, and more bytes follow it.
    guard result.read > 0 || result.written > 0 || input.isEmpty else {
      throw .response(.undecodable("bytes follow its end"))
    }
    return result
  }
}
