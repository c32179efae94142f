/// Identifies a file, whatever its name is: device, inode and time of birth. File systems reuse inodes, so the time of
/// birth is compared too.
public struct FileIdentity: Sendable, Hashable, Codable {
  /// The device (`st_dev`).
  public var device: UInt64
  /// The inode (`st_ino`).
  public var inode: UInt64
  /// Nanoseconds since 1970; 0 if the file system does not keep it, or if it was not stored.
  public var birth: Int64

  /// The three numbers that identify a file.
  public init(device: UInt64, inode: UInt64, birth: Int64 = 0) {
    self.device = device
    self.inode = inode
    self.birth = birth
  }

  /// The identity as a job's row stores it.
  public var withoutBirth: FileIdentity { FileIdentity(device: device, inode: inode) }
}
