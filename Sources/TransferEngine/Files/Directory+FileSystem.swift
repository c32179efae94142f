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
}
