/// Decides whether a file may have a size: for space that several downloads share.
public final class SpaceAllowance: Hashable, Sendable {
  /// Why the file may not have this size now, for people; `nil`: it may, and the bytes are its own from now on. Called with the
  /// length of the file when the response announces it, otherwise before each piece is written. It must not block.
  let refusal: @Sendable (_ size: Int64) -> String?

  /// An allowance that asks the function.
  public init(_ refusal: @escaping @Sendable (_ size: Int64) -> String?) { self.refusal = refusal }

  public static func == (one: SpaceAllowance, other: SpaceAllowance) -> Bool { one === other }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
