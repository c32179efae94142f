/// A rate as people write it: `500`, `64K`, `1.5M`, `2G` (binary) bytes a second; 1 or more.
public struct ByteRate: Equatable, Sendable {
  public let bytesPerSecond: Int64

  public init?(_ text: String) {
    guard let size = ByteSize(text) else { return nil }
    bytesPerSecond = size.bytes
  }
}

extension ByteRate {
  /// - Throws: `WireError` that says what a rate is like.
  public init(parsing text: String) throws(WireError) {
    guard let rate = ByteRate(text) else { throw WireError(Self.expected) }
    self = rate
  }
}

extension ByteRate: Codable, Quantity {
  var number: Int64 { bytesPerSecond }

  init?(number: Int64) {
    guard number > 0 else { return nil }
    bytesPerSecond = number
  }

  static let expected = "a rate is a number of bytes a second, 1 or more, with K, M or G"
}
