/// A value in a request, a response or on the command line that cannot be read. `description` says why, for people.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
