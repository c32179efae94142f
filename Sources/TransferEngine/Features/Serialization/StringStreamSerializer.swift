public import FoundationEssentials

/// Each piece as UTF-8 text. A character that is split between two pieces becomes U+FFFD in both; `UTF8Assembler` keeps
/// it whole.
public struct StringStreamSerializer: DataStreamSerializer {
  /// Decodes UTF-8.
  public init() {}

  /// Returns the piece as text; invalid UTF-8 becomes U+FFFD.
  public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}
