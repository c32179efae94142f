import CLinux
import Glibc

/// An open directory: its files stay the same ones, whatever happens to its path.
package final class Directory: Sendable {
  /// As it was given; for messages.
  package let path: String
  package let descriptor: Int32
  /// Which directory it is, whatever its path leads to now.
  package let identity: DirectoryIdentity

  /// - Parameter descriptor: closed with the object.
  /// - Throws: `.file` if it cannot be looked at.
  init(path: String, descriptor: Int32) throws(TransferError) {
    guard let identity = DirectoryIdentity(of: descriptor) else {
      let code = errno
      close(descriptor)
      throw .file(.system("cannot open the directory \(path)", errno: code))
    }
    self.path = path
    self.descriptor = descriptor
    self.identity = identity
  }

  deinit { close(descriptor) }

  /// Opens a directory that the rules allow.
  /// - Throws: `.directoryMissing`; `.permission` where the rules refuse it.
  package static func open(_ path: String, rules: PathRules = .none) throws(TransferError) -> Directory {
    let descriptor = PathRules.openDirectory(path, O_RDONLY, isRestricted: !rules.isEmpty)
    guard descriptor >= 0 else {
      let code = errno
      try rules.checkNearest(path)
      throw failure(path, code)
    }
    let directory = try Directory(path: path, descriptor: descriptor)
    try rules.check(directory.descriptor, as: path)
    return directory
  }

  /// Opens a directory, making what is missing, durable from the top down. Blocks.
  static func open(_ path: String, creating: Bool, rules: PathRules = .none) throws(TransferError) -> Directory {
    guard creating else { return try open(path, rules: rules) }
    return try open(path, rules: rules) { parent throws(TransferError) in try parent.synchronize() }
  }

  /// Opens a directory, making what is missing. The rules are checked before anything is made.
  /// - Parameter didMake: gets each directory in which another one was made, from the top down: it is to be synchronized.
  static func open(
    _ path: String, rules: PathRules, didMake: (Directory) throws(TransferError) -> Void
  ) throws(TransferError) -> Directory {
    do throws(TransferError) {
      return try open(path, rules: rules)
    } catch .file(.directoryMissing) {
      return try make(path, rules, didMake)
    }
  }

  /// Walks down from the deepest directory that exists. What is made is opened beneath its parent's descriptor, never
  /// through a link, so that the check of the first directory holds for all that are made in it.
  private static func make(
    _ path: String, _ rules: PathRules, _ didMake: (Directory) throws(TransferError) -> Void
  ) throws(TransferError) -> Directory {
    var (directory, missing) = try nearest(path, rules)
    try rules.check(directory.descriptor, as: path)
    while let name = missing.first {
      try rules.checkMaking(missing, in: directory.identity, as: path)
      missing.removeFirst()
      if mkdirat(directory.descriptor, name, 0o777) == 0 {
        try didMake(directory)
      } else if errno != EEXIST {
        throw .file(.system("cannot create the directory \(directory.path(of: name))", errno: errno))
      }
      let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
      let descriptor = linux_openat(directory.descriptor, name, flags, 0)
      guard descriptor >= 0 else { throw failure(directory.path(of: name), errno) }
      directory = try Directory(path: directory.path(of: name), descriptor: descriptor)
    }
    // Another process may have made some of it: a directory that is protected, say.
    try rules.check(directory.descriptor, as: path)
    return directory
  }

  /// The deepest directory on the way to a path, and the names of what is missing below it.
  private static func nearest(
    _ path: String, _ rules: PathRules
  ) throws(TransferError) -> (Directory, missing: ArraySlice<String>) {
    let names = path.split(separator: "/").map(String.init)
    let base = path.hasPrefix("/") ? "/" : "./"
    for count in stride(from: names.count, through: 0, by: -1) {
      let prefix = base + names[..<count].joined(separator: "/")
      let descriptor = PathRules.openDirectory(prefix, O_RDONLY, isRestricted: !rules.isEmpty)
      if descriptor >= 0 { return (try Directory(path: prefix, descriptor: descriptor), names[count...]) }
      // A file in the place of a directory will not become one by itself.
      if errno == ENOTDIR { throw failure(path, ENOTDIR) }
      guard errno == ENOENT else {
        throw .file(.system("cannot create the directory \(path)", errno: errno))
      }
    }
    throw .file(.directoryMissing("/"))
  }

  private static func failure(_ path: String, _ code: Int32) -> TransferError {
    switch code {
    case ENOENT, ENOTDIR: .file(.directoryMissing(path))
    default: .file(.system("cannot open the directory \(path)", errno: code))
    }
  }

  /// Names are on the disk when this returns. Blocks.
  package func synchronize() throws(TransferError) {
    guard fsync(descriptor) == 0 else {
      throw .file(.system("cannot sync the directory \(path) to disk", errno: errno))
    }
  }

  /// The path of something in it, for messages.
  package func path(of name: String) -> String { (path == "/" ? "" : path) + "/" + name }

  func contains(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The size of the regular file under a name, if it is the one meant; `nil` otherwise. Never waits on a FIFO.
  func size(of name: String, expecting identity: FileIdentity) -> Int64? {
    guard let (found, size) = regularFile(name), found == identity else { return nil }
    return size
  }

  /// The regular file under a name. Symbolic links are not followed, and a FIFO is not waited for.
  func regularFile(_ name: String) -> (identity: FileIdentity, size: Int64)? {
    let file = linux_openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return (PartialFile.identity(of: file), Int64(status.st_size))
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Bytes that this user may still write here; `nil` where the file system does not say.
  var freeBytes: Int64? {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
    return Int64(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  func failure(_ what: String, _ code: Int32) -> TransferError {
    .file(.system("cannot \(what) \(path)", errno: code))
  }
}

extension Directory: Equatable {
  /// Whether both are the same directory, by whatever paths.
  package static func == (one: Directory, other: Directory) -> Bool { one.identity == other.identity }
}

/// Which directory: device and inode, which no rename and no link changes.
package struct DirectoryIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// `nil` if the descriptor cannot be looked at; `errno` says why.
  init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// What a path leads to now.
  init?(path: String) { self.init(path, at: AT_FDCWD) }

  /// What a path leads to from an open directory.
  init?(_ path: String, at directory: Int32) {
    var status = stat()
    guard fstatat(directory, path, &status, 0) == 0 else { return nil }
    self.init(status)
  }
}
