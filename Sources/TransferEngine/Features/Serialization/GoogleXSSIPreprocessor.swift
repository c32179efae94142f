public import FoundationEssentials

/// Removes the prefix `)]}',` and a line feed, which some servers put before JSON so that a browser does not run it as
/// a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
  /// Removes the prefix `)]}',` and its line end.
  public init() {}

  /// Returns the bytes without the prefix; unchanged if there is none.
  public func preprocess(_ data: Data) throws -> Data {
    data.starts(with: Data(")]}',\n".utf8)) ? Data(data.dropFirst(6)) : data
  }
}
