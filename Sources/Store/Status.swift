import Glibc

/// What `stat(2)` says of a file.
struct Status {
  let size: Int64
  /// No write bit at all counts as read-only even for root, who could write nevertheless.
  let isWritable: Bool

  /// `nil` where there is no such file.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    size = Int64(status.st_size)
    isWritable = status.st_mode & 0o222 != 0 && access(path, W_OK) == 0
  }
}
