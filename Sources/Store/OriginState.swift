public import FoundationEssentials

/// The stored failures of an origin, and its block.
public struct OriginState: Equatable, Sendable {
  /// Scheme, host and port.
  public var name: String
  /// Consecutive failures.
  public var failures: Int
  /// No job of this origin begins before; `nil`: it is not blocked.
  public var blockedUntil: Date?
  /// When this was stored, so that a clock that was set back can be recognised.
  public var updatedAt: Date
}
