public import FoundationEssentials

/// Changes a body before a serializer reads it.
public protocol DataPreprocessor: Sendable {
  /// Returns the data to serialize. An error that it throws fails the request.
  func preprocess(_ data: Data) throws -> Data
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
  /// Changes nothing.
  public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
  /// Removes Google's prefix.
  public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
