/// Identifies a request in events. Unique within one session.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
  /// A counter of the session; it has no meaning elsewhere.
  public let rawValue: UInt64
  public var description: String { "request \(rawValue)" }
}
