/// A value in a request, a response or on the command line that cannot be read. `text` says why, for people.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Why, with places for the names of fields.
  public let text: FieldText
  /// Why, with the fields' names in JSON.
  public var description: String { text.description }

  /// A reason that names no field.
  public init(_ description: String) { text = FieldText(description) }

  public init(text: FieldText) { self.text = text }

  /// The error of a field's value, which names the field.
  /// - Parameter field: the name in JSON.
  public func about(_ field: String) -> WireError {
    text.names(field) ? self : WireError(text: "\(field: field): \(self)")
  }
}
