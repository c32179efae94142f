import CLinux
import Glibc
import WireValues

/// An open directory. Its files stay the same, whatever happens to its path.
package final class Directory: Sendable {
  /// The path with which it was opened; for messages.
  package let path: String
  package let descriptor: Int32
  /// Identifies the directory, wherever its path leads now.
  package let identity: DirectoryIdentity

  /// - Parameter descriptor: closed with the object.
  /// - Throws: `.file` if it cannot be examined.
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
  /// - Throws: `.directoryMissing`; `.permission` if the rules refuse it.
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

  /// Opens a directory and creates missing ones, durably from the top down. Blocks.
  static func open(_ path: String, creating: Bool, rules: PathRules = .none) throws(TransferError) -> Directory {
    guard creating else { return try open(path, rules: rules) }
    return try open(path, rules: rules) { parent throws(TransferError) in try parent.synchronize() }
  }

  /// Opens a directory and creates missing ones. The rules are checked before anything is created.
  /// - Parameter didMake: gets each directory in which another one was created, from the top down, to be synced.
  static func open(
    _ path: String, rules: PathRules, didMake: (Directory) throws(TransferError) -> Void
  ) throws(TransferError) -> Directory {
    do throws(TransferError) {
      return try open(path, rules: rules)
    } catch .file(.directoryMissing) {
      return try make(path, rules, didMake)
    }
  }

  /// Walks down from the deepest existing directory. New directories are opened beneath their parent's descriptor,
  /// never through a link, so that the check of the first directory holds for all of them.
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
    // Another process may have created some of it, such as a protected directory.
    try rules.check(directory.descriptor, as: path)
    return directory
  }

  /// The deepest existing directory on a path, and the missing names below it.
  private static func nearest(
    _ path: String, _ rules: PathRules
  ) throws(TransferError) -> (Directory, missing: ArraySlice<String>) {
    let names = path.componentsOfPath.map(String.init)
    let base = path.isAbsolutePath ? "/" : "./"
    for count in stride(from: names.count, through: 0, by: -1) {
      let prefix = base + names[..<count].joined(separator: "/")
      let descriptor = PathRules.openDirectory(prefix, O_RDONLY, isRestricted: !rules.isEmpty)
      if descriptor >= 0 { return (try Directory(path: prefix, descriptor: descriptor), names[count...]) }
      // A file where a directory is expected is a permanent failure.
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

  /// Syncs the directory's names to disk. Blocks.
  package func synchronize() throws(TransferError) {
    guard fsync(descriptor) == 0 else {
      throw .file(.system("cannot sync the directory \(path) to disk", errno: errno))
    }
  }

  /// The path of an entry, for messages.
  package func path(of name: String) -> String { path.appendingName(name) }

  func contains(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The size of the regular file with this name, if it is the expected one; otherwise `nil`. Never waits for a FIFO.
  func size(of name: String, expecting identity: FileIdentity) -> Int64? {
    guard let (found, size) = regularFile(name), found == identity else { return nil }
    return size
  }

  /// The regular file with this name. Does not follow symbolic links and does not wait for a FIFO.
  func regularFile(_ name: String) -> (identity: FileIdentity, size: Int64)? {
    let file = linux_openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return (PartialFile.identity(of: file), Int64(status.st_size))
  }

  /// Identifies the regular file with this name. Does not follow symbolic links.
  func version(of name: String) -> SourceIdentity? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return SourceIdentity(status)
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Bytes that this user can still write here; `nil` if the file system does not report it.
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
  /// Whether both are the same directory, even by different paths.
  package static func == (one: Directory, other: Directory) -> Bool { one.identity == other.identity }
}
