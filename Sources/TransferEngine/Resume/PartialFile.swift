import CLinux
import Glibc
import Synchronization

/// The file that a download fills, beside its destination, under a name of its own until it is whole.
///
/// Opened beneath a directory descriptor, never through a symbolic link, so that nothing planted in the directory
/// leads elsewhere. Values are immutable and every call is a system call with an explicit offset: it may be used from
/// any thread, though only the transfer loop writes.
final class PartialFile: Sendable {
  let directory: Directory
  let name: String
  let identity: FileIdentity
  private let descriptor: Int32
  /// A synchronization failed: what it was about counts as lost.
  private let hasLostData = Atomic(false)

  private init(directory: Directory, name: String, identity: FileIdentity, descriptor: Int32) {
    self.directory = directory
    self.name = name
    self.identity = identity
    self.descriptor = descriptor
  }

  deinit { Glibc.close(descriptor) }

  /// A new, empty file, mode 0600. What stood under the name is gone only when the new one is there, so that the new
  /// identity differs from the old.
  static func create(in directory: Directory, name: String) throws(TransferError) -> PartialFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = linux_openat(directory.descriptor, name, flags, 0o600)
    if descriptor >= 0 {
      return PartialFile(directory: directory, name: name, identity: identity(of: descriptor), descriptor: descriptor)
    }
    guard errno == EEXIST else { throw directory.failure("create a file in", errno) }
    return try replace(name, in: directory, flags)
  }

  /// The old file is gone only when the new one is there: no inode is used twice in a row.
  private static func replace(_ name: String, in directory: Directory, _ flags: Int32) throws(TransferError)
    -> PartialFile
  {
    let temporary = name + ".new"
    unlinkat(directory.descriptor, temporary, 0)
    let descriptor = linux_openat(directory.descriptor, temporary, flags, 0o600)
    guard descriptor >= 0 else { throw directory.failure("create a file in", errno) }
    guard renameat(directory.descriptor, temporary, directory.descriptor, name) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      unlinkat(directory.descriptor, temporary, 0)
      throw directory.failure("create a file in", code)
    }
    return PartialFile(
      directory: directory, name: name, identity: identity(of: descriptor), descriptor: descriptor)
  }

  /// The file that is there, if it is a regular file, ours alone, and the one meant. Never waits on a FIFO.
  static func open(in directory: Directory, name: String, expecting identity: FileIdentity) -> PartialFile? {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = linux_openat(directory.descriptor, name, flags, 0)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
      Self.identity(of: descriptor) == identity
    else {
      Glibc.close(descriptor)
      return nil
    }
    return PartialFile(directory: directory, name: name, identity: identity, descriptor: descriptor)
  }

  static func identity(of descriptor: Int32) -> FileIdentity {
    var identity = linux_identity()
    linux_identify(descriptor, &identity)
    return FileIdentity(device: identity.device, inode: identity.inode, birth: identity.birth)
  }

  var path: String { directory.path + "/" + name }

  /// What the file holds, asked of the file.
  var size: Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Writes all of it, however many calls that takes.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(TransferError) {
    var done = 0
    while done < bytes.count {
      // checked: pwrite(2) and pread(2) refuse what would pass the largest file
      let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + done)
      if count < 0 {
        if errno == EINTR { continue }
        throw .file(.system("cannot write to \(path)", errno: errno))
      }
      done += count
    }
  }

  /// Reads exactly that many bytes.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferError) {
    var done = 0
    while done < buffer.count {
      // checked: pwrite(2) and pread(2) refuse what would pass the largest file
      let count = pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .file(.system("cannot read \(path)", errno: count < 0 ? errno : EIO)) }
      done += count
    }
  }

  func truncate(to length: Int64) throws(TransferError) {
    guard ftruncate(descriptor, off_t(length)) == 0 else {
      throw .file(.system("cannot truncate \(path)", errno: errno))
    }
  }

  /// Bytes and length are on the disk when this returns. Blocks; not for the transfer loop. After an error the data
  /// counts as lost: the kernel may have dropped the pages, and a second call would say success (fsync(2)). So there is
  /// none: every later call fails, too.
  func synchronize() throws(TransferError) {
    guard !hasLostData.load(ordering: .acquiring) else {
      throw .file(.io("cannot bring \(path) to the disk: it has refused before", errno: EIO))
    }
    guard fdatasync(descriptor) == 0 else {
      let code = errno
      hasLostData.store(true, ordering: .releasing)
      throw .file(.system("cannot bring \(path) to the disk", errno: code))
    }
  }

  /// The digests of the whole file, read from the page cache or the disk. Blocks.
  func digests(_ algorithms: Set<DigestAlgorithm>) throws(TransferError) -> [DigestAlgorithm: String] {
    var digester = Digester(algorithms)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    let size = size
    while offset < size {
      // checked: offset < size
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), size - offset))])
      try read(into: piece, at: offset)
      digester.update(UnsafeRawBufferPointer(piece))
      offset += Int64(piece.count)  // checked: at most size
    }
    return digester.finalize()
  }

  /// Gives the file its final name. What stood there is whole until then; without `replacing` it stays and this
  /// throws `.destinationExists`. The name is durable only after `Directory.synchronize`.
  /// - Parameter target: another directory of the same file system than the part file's; `nil` for the same one.
  func rename(to finalName: String, in target: Directory? = nil, replacing: Bool) throws(TransferError) {
    let target = target ?? directory
    // mode 0600 while partial; then what a program of this user would create, or what the replaced file had.
    var mode = FileMode.ordinary
    var status = stat()
    if replacing, fstatat(target.descriptor, finalName, &status, AT_SYMLINK_NOFOLLOW) == 0 {
      guard status.st_mode & S_IFMT != S_IFDIR else {
        throw .file(.destinationExists(target.path + "/" + finalName + " (a directory)"))
      }
      if status.st_mode & S_IFMT == S_IFREG { mode = status.st_mode & 0o777 }
    }
    fchmod(descriptor, mode)
    let code =
      replacing
      ? renameat(directory.descriptor, name, target.descriptor, finalName)
      : renameWithoutReplacing(to: finalName, in: target)
    guard code == 0 else {
      if errno == EEXIST || errno == EISDIR || errno == ENOTEMPTY {
        throw .file(.destinationExists(target.path + "/" + finalName))
      }
      throw .file(.system("cannot rename \(path) to \(finalName)", errno: errno))
    }
  }

  /// Where the file system has no RENAME_NOREPLACE (EINVAL: NFS, FUSE), a hard link does the same: it never replaces.
  private func renameWithoutReplacing(to finalName: String, in target: Directory) -> Int32 {
    let code = linux_rename_no_replace(directory.descriptor, name, target.descriptor, finalName)
    guard code != 0, errno == EINVAL || errno == ENOSYS else { return code }
    guard linkat(directory.descriptor, name, target.descriptor, finalName, 0) == 0 else { return -1 }
    unlinkat(directory.descriptor, name, 0)
    return 0
  }
}

/// Permissions of finished files.
enum FileMode {
  /// 0666 less the process's umask, read once: `umask(2)` cannot be read without being set.
  static let ordinary: mode_t = {
    let mask = umask(0o077)
    umask(mask)
    return 0o666 & ~mask
  }()
}

extension String {
  /// `/a/b` → `/a`, `/a` → `/`.
  var parentPath: String {
    guard let slash = lastIndex(of: "/"), slash != startIndex else { return "/" }
    return String(self[..<slash])
  }
}
