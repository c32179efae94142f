/// A version of a file in a watched folder.
public struct FileVersion: Sendable {
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

extension FileVersion: Hashable {
  /// Paths are compared byte by byte: names that look the same may be two files.
  public static func == (one: FileVersion, other: FileVersion) -> Bool {
    one.size == other.size && one.modified == other.modified && one.path.utf8.elementsEqual(other.path.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(size)
    hasher.combine(modified)
    var path = path
    path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
