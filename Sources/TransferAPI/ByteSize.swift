import WireValues

/// A number of bytes as people write it: `500`, `64K`, `1.5M`, `2G` (binary); 1 or more.
public struct ByteSize: Equatable, Sendable {
  public let bytes: Int64

  public init?(_ text: String) {
    var digits = Substring(text)
    var factor = 1.0
    if let suffix = digits.last, !suffix.isNumber {
      switch suffix {
      case "K", "k": factor = 1024
      case "M", "m": factor = 1024 * 1024
      case "G", "g": factor = 1024 * 1024 * 1024
      default: return nil
      }
      digits.removeLast()
    }
    guard let number = decimal(digits),
      let bytes = CheckedNumber(rounding: (number * factor).rounded(.down)).value
    else { return nil }
    self.init(number: bytes)
  }
}

extension ByteSize {
  /// - Throws: `WireError` that says what a size is like.
  public init(parsing text: String) throws(WireError) {
    guard let size = ByteSize(text) else { throw WireError(Self.expected) }
    self = size
  }
}

extension ByteSize: Codable, Quantity {
  var number: Int64 { bytes }

  init?(number: Int64) {
    guard number > 0 else { return nil }
    bytes = number
  }

  static let expected = "a size is a number of bytes, 1 or more, with K, M or G"
}
