public import FoundationEssentials

/// Each piece unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
  /// Passes pieces on unchanged.
  public init() {}

  /// Returns the piece.
  public func serialize(_ data: Data) throws -> Data { data }
}
