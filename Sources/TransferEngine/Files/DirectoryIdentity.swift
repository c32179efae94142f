import CLinux
import Glibc

/// Identifies a directory by device and inode, which renames and links do not change.
package struct DirectoryIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// `nil` if the descriptor cannot be examined; `errno` has the reason.
  package init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The directory to which a path leads now.
  package init?(path: String) { self.init(path, at: AT_FDCWD) }

  /// The directory to which a path leads from an open directory.
  init?(_ path: String, at directory: Int32) {
    var status = stat()
    guard fstatat(directory, path, &status, 0) == 0 else { return nil }
    self.init(status)
  }
}
