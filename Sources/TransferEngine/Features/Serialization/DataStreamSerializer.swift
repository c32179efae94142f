public import FoundationEssentials

/// Makes a value of each piece of a stream.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
  /// The type of the values.
  associatedtype SerializedObject: Sendable

  /// Makes a value of a piece. An error that it throws becomes the piece's failure.
  func serialize(_ data: Data) throws -> SerializedObject
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
  /// Pieces unchanged.
  public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
  /// Pieces as text.
  public static var string: StringStreamSerializer { StringStreamSerializer() }
}
