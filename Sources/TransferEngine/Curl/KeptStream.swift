/// The bytes of a stream in a nameless file, which is deleted with the last reference.
public struct KeptStream: Sendable, Equatable {
  let file: SpooledFile
  /// The number of bytes.
  public let count: Int64

  public static func == (one: KeptStream, other: KeptStream) -> Bool { one.file === other.file }
}
