/// A batch: its name is unique for its owner only.
public struct BatchID: Hashable, Sendable {
  public var owner: UInt32
  public var name: String

  public init(owner: UInt32, name: String) {
    self.owner = owner
    self.name = name
  }
}
