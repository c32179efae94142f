import Glibc
import Synchronization

/// `transferd.log`, where standard error goes when `transferctl` has started the daemon: nobody else keeps it small. When it
/// has grown to its limit it becomes `transferd.log.1`, in the place of the last one, and a new one begins.
///
/// Where standard error is anything else (a journal, a terminal, a file of the user's choice) there is none.
final class LogFile: Sendable {
  static let maximumBytes = 10 << 20

  /// The one of this process.
  static let current = Mutex<LogFile?>(nil)

  let path: String
  private let descriptor: Int32
  private let limit: Int
  private let bytes: Mutex<Int>

  /// - Parameter descriptor: what the log is written to; another file is put in its place when the limit is reached.
  /// - Returns: `nil` where the descriptor is not of the regular file at `path`.
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

  /// So many bytes are about to be written.
  func willWrite(_ count: Int) {
    bytes.withLock { bytes in
      if bytes > 0, bytes + count > limit, beginAnew() { bytes = 0 }
      bytes += count
    }
  }

  /// - Returns: `false` where that was not possible: then the old file goes on to grow.
  private func beginAnew() -> Bool {
    guard rename(path, path + ".1") == 0 else { return false }
    let fresh = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard fresh >= 0 else { return false }
    defer { close(fresh) }
    return dup2(fresh, descriptor) >= 0
  }
}
