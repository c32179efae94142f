/// Limits of speed for the bodies of requests and responses, in bytes per second. `nil` means no limit.
public struct BandwidthLimit: Hashable, Sendable {
  /// For bodies that are received; `nil` means no limit.
  public var down: Int64?
  /// For bodies that are sent; `nil` means no limit.
  public var up: Int64?

  /// No limit in either direction.
  public static let none = BandwidthLimit()

  /// Limits of at least 1 byte per second each; a smaller number counts as 1.
  public init(down: Int64? = nil, up: Int64? = nil) {
    self.down = down
    self.up = up
  }
}
