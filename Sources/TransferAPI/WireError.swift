import FoundationEssentials

/// A value on the wire or the command line that cannot be read; `description` says why, for people.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
