import Glibc

/// A directory that only this user may write to.
enum StateDirectory {
  struct Unsafe: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes it, and its parents, mode 0700 where they are missing.
  /// - Parameter mustBePrivate: refuse one that others may read, too.
  /// - Throws: `Unsafe` where it belongs to somebody else or others may write to it: they could put files in our place.
  static func prepare(_ path: String, mustBePrivate: Bool) throws {
    try make(path)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw Unsafe(description: "cannot use \(path): it is not a directory")
    }
    // The socket may stand in a directory that is shared by sticky bit or belongs to root, as /run does.
    guard status.st_uid == geteuid() || !mustBePrivate && (status.st_uid == 0) else {
      throw Unsafe(description: "cannot use \(path): it belongs to another user")
    }
    let isSticky = status.st_mode & S_ISVTX != 0
    guard status.st_mode & 0o022 == 0 || !mustBePrivate && isSticky else {
      throw Unsafe(description: "cannot use \(path): others may write to it; chmod go-w it")
    }
    if mustBePrivate, status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
      throw Unsafe(description: "cannot use \(path): others may look into it; chmod 700 it")
    }
  }

  private static func make(_ path: String) throws {
    var status = stat()
    if stat(path, &status) == 0 { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try make(String(path[..<slash])) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw Unsafe(description: "cannot make the directory \(path): \(String(cString: strerror(errno)))")
    }
  }
}
