import CCurl
import Glibc

/// Which file it is, whatever its name: device, inode and the time it was made, for inodes are used again.
public struct FileIdentity: Sendable, Hashable, Codable {
  /// The device (`st_dev`).
  public var device: UInt64
  /// The inode (`st_ino`).
  public var inode: UInt64
  /// Nanoseconds since 1970; 0 where the file system does not keep it.
  public var birth: Int64

  /// The three numbers that name a file, whatever its path.
  public init(device: UInt64, inode: UInt64, birth: Int64 = 0) {
    self.device = device
    self.inode = inode
    self.birth = birth
  }
}
