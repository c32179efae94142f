/// A value that is a text in JSON, the one that `init(parsing:)` reads and `description` writes.
protocol TextCodable: Codable, CustomStringConvertible {
  init(parsing text: String) throws(WireError)
}

extension TextCodable {
  public init(from decoder: any Decoder) throws {
    try self.init(parsing: decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
