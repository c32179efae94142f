import CLinux
import Glibc

/// Permissions of finished files.
enum FileMode {
  /// 0666 less the process's umask, read once: `umask(2)` cannot be read without being set.
  static let ordinary: mode_t = {
    let mask = umask(0o077)
    umask(mask)
    return 0o666 & ~mask
  }()
}
