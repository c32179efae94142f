public import FoundationEssentials

/// Changes nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
  /// Changes nothing.
  public init() {}

  /// Returns the bytes unchanged.
  public func preprocess(_ data: Data) throws -> Data { data }
}
