/// The value of an empty response: `serializingDecodable(Empty.self)`.
public struct Empty: Codable, Sendable, EmptyResponse, Equatable {
  /// The one value of the type.
  public static let value = Empty()

  /// The one value of the type.
  public init() {}

  /// The one value of the type.
  public static func emptyValue() -> Empty { value }
}
