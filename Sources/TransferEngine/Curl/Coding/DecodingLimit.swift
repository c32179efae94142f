import WireValues

/// Limits how much larger a decoded body may be than the bytes that were received. 10 MiB of gzip can contain 10 GiB of
/// zeros.
public struct DecodingLimit: Hashable, Sendable {
  /// Decoded bytes that are always allowed.
  public var freeBytes: Int64
  /// Above `freeBytes`, at most this many times the received bytes.
  public var ratio: Int64
  /// The limit of decoded bytes in all cases.
  public var maximumBytes: Int64

  /// Custom limits. Sizes are bytes; a body may always grow to `freeBytes`, and above that to `ratio` times the
  /// received bytes.
  public init(freeBytes: Int64 = 256 << 20, ratio: Int64 = 200, maximumBytes: Int64 = .max) {
    self.freeBytes = freeBytes
    self.ratio = ratio
    self.maximumBytes = maximumBytes
  }

  /// - Returns: the limit that is exceeded; `nil` for none.
  func exceeded(decoded: Int64, encoded: Int64) -> Int64? {
    if decoded > maximumBytes { return maximumBytes }
    let product = encoded.multipliedReportingOverflow(by: ratio)
    let allowed = max(freeBytes, product.overflow ? .max : product.partialValue)
    return decoded > allowed ? allowed : nil
  }
}
