import Glibc
import WireValues

/// Space on a file system.
enum DiskSpace {
  /// Bytes that this user may still write (statvfs(3)); `nil`: unknown.
  @Sendable static func free(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return (CheckedNumber(Int64(clamping: status.f_bavail)) * CheckedNumber(Int64(clamping: status.f_frsize))).value
      ?? .max
  }
}
