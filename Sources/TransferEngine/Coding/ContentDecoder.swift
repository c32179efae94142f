import WireValues

/// How far a decoded body may outgrow what came over the wire (a "bomb": 10 MiB of gzip can stand for 10 GiB of zeros).
public struct DecodingLimit: Hashable, Sendable {
  /// So much is decoded, whatever the ratio.
  public var freeBytes: Int64
  /// Beyond that, no more than so many times the bytes that came.
  public var ratio: Int64
  /// And no more than this in all.
  public var maximumBytes: Int64

  /// Limits of one's own. Sizes are bytes; a body may always grow to `freeBytes`, and beyond that `ratio` times what
  /// came.
  public init(freeBytes: Int64 = 256 << 20, ratio: Int64 = 200, maximumBytes: Int64 = .max) {
    self.freeBytes = freeBytes
    self.ratio = ratio
    self.maximumBytes = maximumBytes
  }

  /// - Returns: the limit that is exceeded; `nil`: none.
  func exceeded(decoded: Int64, encoded: Int64) -> Int64? {
    if decoded > maximumBytes { return maximumBytes }
    let product = encoded.multipliedReportingOverflow(by: ratio)
    let allowed = max(freeBytes, product.overflow ? .max : product.partialValue)
    return decoded > allowed ? allowed : nil
  }
}

/// Undoes a body's content coding (RFC 9110 §8.4.1) on its way to the receiver.
///
/// Not left to libcurl, which takes a coded stream that ends early for a whole one as long as Content-Length is right.
final class ContentDecoder {
  private let decoder: any StreamDecoder
  private let limit: DecodingLimit
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
  /// What of `buffer` the receiver has not taken.
  private var pending = 0..<0
  /// Bytes of the piece at hand that are decoded. The same piece comes again after a pause.
  private var consumed = 0
  private var encoded: Int64 = 0
  private var decoded: Int64 = 0

  /// What `Accept-Encoding` says for bodies that are decoded.
  static let acceptEncoding = "gzip, deflate, br, zstd"

  /// - Throws: `.response(.undecodable)` for a coding that is none of ours.
  init(coding: String, limit: DecodingLimit) throws(TransferError) {
    self.limit = limit
    switch coding {
    case "gzip", "x-gzip": decoder = GzipDecoder()
    case "deflate": decoder = DeflateDecoder()
    case "br": decoder = try BrotliDecoder()
    case "zstd": decoder = try ZstandardDecoder()
    default: throw .response(.undecodable("nobody here knows the coding \"\(RemoteErrors.printable(coding))\""))
    }
  }

  deinit { buffer.deallocate() }

  /// Hands on what a piece decodes to. After `.pause` the same piece must come again.
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
      if written == 0, consumed == bytes.count {
        consumed = 0
        return .taken
      }
    }
  }

  /// - Throws: `.response(.undecodable)` where the stream has begun and not ended.
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
    // Neither forward nor back: the stream is over, and something follows it.
    guard result.read > 0 || result.written > 0 || input.isEmpty else {
      throw .response(.undecodable("bytes follow its end"))
    }
    return result
  }
}

/// One coded stream. Reads and writes as much as there is; an empty input asks for what is still inside.
protocol StreamDecoder: AnyObject {
  /// - Throws: `.response(.undecodable)`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int)
  /// The stream ended as it should, and nothing has begun after it.
  var isAtEnd: Bool { get }
}
