import Glibc
import WireValues

/// Prepares a directory that only the daemon's user may write to.
enum StateDirectory {
  struct Unsafe: Error, CustomStringConvertible {
    let description: String
  }

  /// Checks the directory, and creates it and missing parents with mode 0700.
  /// - Parameter mustBePrivate: whether to remove other users' read access too.
  /// - Throws: `Unsafe` if the directory belongs to another user or others may write to it, because they could replace our
  ///   files.
  static func prepare(_ path: String, mustBePrivate: Bool) throws {
    try make(path)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw Unsafe(description: "cannot use \(path): it is not a directory")
    }
    // The socket's directory may be shared with a sticky bit or belong to root, like /run.
    guard status.st_uid == geteuid() || !mustBePrivate && (status.st_uid == 0) else {
      throw Unsafe(description: "cannot use \(path): it belongs to another user")
    }
    let isSticky = status.st_mode & S_ISVTX != 0
    guard status.st_mode & 0o022 == 0 || !mustBePrivate && isSticky else {
      throw Unsafe(description: "cannot use \(path): others may write to it; chmod go-w it")
    }
    if mustBePrivate, status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
      throw Unsafe(description: "cannot use \(path): others may read it; chmod 700 it")
    }
  }

  private static func make(_ path: String) throws {
    var status = stat()
    if stat(path, &status) == 0 { return }
    if path.parentPath != "/" { try make(path.parentPath) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw Unsafe(description: "cannot create the directory \(path): \(String(cString: strerror(errno)))")
    }
    synchronizeNames(in: path.parentPath)
  }

  /// Syncs the names in a directory to disk, after one was made there: what is synced below a name counts only with it.
  /// Errors are ignored: a directory that this user may not read cannot be synced. Blocks.
  static func synchronizeNames(in path: String) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
