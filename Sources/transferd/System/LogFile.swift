import Glibc
import Synchronization

/// The log file `transferd.log`, which receives standard error if `transferctl` started the daemon. The daemon rotates it: at
/// the size limit it is renamed to `transferd.log.1`, which replaces the older one, and a new file is created.
///
/// Without it, standard error goes to the journal, a terminal or a file that the user chose, which the daemon does not rotate.
final class LogFile: Sendable {
  static let maximumBytes = 10 << 20

  /// The log file of this process; `nil` if standard error is not a log file.
  static let current = Mutex<LogFile?>(nil)

  let path: String
  private let descriptor: Int32
  private let limit: Int
  private let bytes: Mutex<Int>

  /// Makes the log file of a descriptor.
  /// - Parameter descriptor: the descriptor that the log is written to; rotation replaces the file behind it.
  /// - Returns: `nil` if the descriptor does not refer to the regular file at `path`.
  init?(path: String, descriptor: Int32 = 2, limit: Int = LogFile.maximumBytes) {
    var (named, opened) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG, lstat(path, &named) == 0,
      named.st_dev == opened.st_dev, named.st_ino == opened.st_ino
    else { return nil }
    self.path = path
    self.descriptor = descriptor
    self.limit = limit
    bytes = Mutex(Int(opened.st_size))
  }

  /// Call this before writing. It rotates the file if `count` bytes more would exceed the limit.
  func willWrite(_ count: Int) {
    bytes.withLock { bytes in
      if bytes > 0, bytes + count > limit, rotate() { bytes = 0 }
      bytes += count
    }
  }

  /// - Returns: `false` if rotation failed; then the current file keeps growing.
  private func rotate() -> Bool {
    guard rename(path, path + ".1") == 0 else { return false }
    let fresh = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard fresh >= 0 else { return false }
    defer { close(fresh) }
    return dup2(fresh, descriptor) >= 0
  }
}
