/// Identifies a version of a file: any change of the file changes one of these numbers.
public struct SourceIdentity: Sendable, Hashable, Codable {
  /// The device (`st_dev`).
  public var device: UInt64
  /// The inode (`st_ino`).
  public var inode: UInt64
  /// Bytes.
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modified: Int64

  /// The four numbers that identify a version of a file.
  public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  /// What stat(2) tells of a file.
  /// - Parameters:
  ///   - seconds: since 1970. A file's owner may set any time (utimensat(2)). Times beyond the year 2262 wrap around,
  ///     which does no harm: they are only compared.
  ///   - nanoseconds: of that second.
  public init(device: UInt64, inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int) {
    let modified = Int64(seconds) &* 1_000_000_000 &+ Int64(nanoseconds)  // checked: an Int64 is as wide as an Int
    self.init(device: device, inode: inode, size: size, modified: modified)
  }
}
