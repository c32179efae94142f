/// A version of a file in a watched folder.
public struct FileVersion: Hashable, Sendable {
  /// Below the folder.
  public var path: String
  /// Bytes.
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modified: Int64

  public init(path: String, size: Int64, modified: Int64) {
    self.path = path
    self.size = size
    self.modified = modified
  }
}
