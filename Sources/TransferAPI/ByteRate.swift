/// A rate as people write it: `500`, `64K`, `1.5M`, `2G` (binary) bytes a second; 1 or more.
public struct ByteRate: Codable, Equatable, Sendable {
  public let bytesPerSecond: Int64

  public init?(bytesPerSecond: Int64) {
    guard bytesPerSecond > 0 else { return nil }
    self.bytesPerSecond = bytesPerSecond
  }

  public init?(_ text: String) {
    guard let size = ByteSize(text) else { return nil }
    bytesPerSecond = size.bytes
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed =
      if let number = try? container.decode(Int64.self) { ByteRate(bytesPerSecond: number) } else {
        ByteRate(try container.decode(String.self))
      }
    guard let parsed else {
      throw WireError("a rate is a number of bytes a second, 1 or more, with K, M or G")
    }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytesPerSecond)
  }
}
