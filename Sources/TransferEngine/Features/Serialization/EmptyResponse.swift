/// A type with a value for an empty response.
public protocol EmptyResponse: Sendable {
  /// The value for an empty body.
  static func emptyValue() -> Self
}
