/// An amount that is a number in JSON. Clients may also write it as a text with a unit, which `init(_:)` reads.
protocol Quantity: Codable, Equatable, Sendable {
  associatedtype Number: Codable & Equatable & Sendable

  /// The amount in its basic unit, as it is written.
  var number: Number { get }

  /// `nil` for a number that is not allowed.
  init?(number: Number)

  /// `nil` for a text that does not stand for an amount.
  init?(_ text: String)

  /// What the value has to be, for people.
  static var expected: String { get }
}

extension Quantity {
  /// - Throws: `WireError` for a number or a text that is not allowed.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed =
      if let number = try? container.decode(Number.self) { Self(number: number) } else {
        Self(try container.decode(String.self))
      }
    guard let parsed else { throw WireError(Self.expected) }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}
