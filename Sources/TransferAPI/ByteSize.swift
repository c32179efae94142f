import WireValues

/// A number of bytes as people write it: `500`, `64K`, `1.5M`, `2G` (binary); 1 or more.
public struct ByteSize: Codable, Equatable, Sendable {
  public let bytes: Int64

  public init?(bytes: Int64) {
    guard bytes > 0 else { return nil }
    self.bytes = bytes
  }

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
    self.init(bytes: bytes)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed =
      if let number = try? container.decode(Int64.self) { ByteSize(bytes: number) } else {
        ByteSize(try container.decode(String.self))
      }
    guard let parsed else { throw WireError("a size is a number of bytes, 1 or more, with K, M or G") }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes)
  }
}
