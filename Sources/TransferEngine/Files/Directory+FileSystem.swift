import Glibc
import WireValues

/// What a directory has in common with another one, and how much it can take.
extension Directory {
  /// Whether a file of this directory can be renamed into the other one; otherwise it has to be copied. Both must be on one
  /// file system and in one mount of it (rename(2), `EXDEV`).
  func canRename(to other: Directory) -> Bool {
    if self == other { return true }
    guard identity.device == other.identity.device else { return false }
    // No directory can be renamed by the name `.`: this changes nothing. The kernel compares the mounts before it refuses.
    return renameat(descriptor, ".", other.descriptor, ".") == 0 || errno != EXDEV
  }

  /// - Parameters:
  ///   - bytes: still to be written here.
  ///   - least: bytes that have to stay free.
  /// - Throws: `.diskFull`. A file system that does not report its free space is no error.
  func checkSpace(for bytes: Int64, leaving least: Int64) throws(TransferError) {
    guard let free = freeBytes, free < bytes.saturatingSum(least) else { return }
    let rest = least > 0 ? ", and \(least) have to stay free" : ""
    throw .file(.diskFull("\(path) has \(free) bytes free, \(bytes) are needed\(rest)"))
  }
}
