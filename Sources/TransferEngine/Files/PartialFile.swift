import CLinux
import Glibc
import Synchronization
import WireValues

/// The file that a download fills: beside its destination or in a directory for part files, with its own name until it is complete.
///
/// It is opened beneath a directory descriptor, never through a symbolic link, so that nothing in the directory can
/// lead elsewhere. Values are immutable, and every call is a system call with an explicit offset: it may be used from
/// any thread, but only the transfer loop writes.
final class PartialFile: Sendable {
  let directory: Directory
  let name: String
  let identity: FileIdentity
  private let descriptor: Int32
  /// A sync failed: its data counts as lost.
  private let hasLostData = Atomic(false)
  /// The modification time is synced with the bytes.
  private let syncsTime = Atomic(false)

  private init(directory: Directory, name: String, identity: FileIdentity, descriptor: Int32) {
    self.directory = directory
    self.name = name
    self.identity = identity
    self.descriptor = descriptor
  }

  deinit { Glibc.close(descriptor) }

  /// The permissions of a file that has not got its final name.
  private static let partialMode: mode_t = 0o600

  /// Creates a new, empty file, mode 0600. An old file with this name is removed after the new one exists, so that
  /// their identities differ.
  static func create(in directory: Directory, name: String) throws(TransferError) -> PartialFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = linux_openat(directory.descriptor, name, flags, partialMode)
    if descriptor >= 0 {
      return PartialFile(directory: directory, name: name, identity: identity(of: descriptor), descriptor: descriptor)
    }
    guard errno == EEXIST else { throw directory.failure("create a file in", errno) }
    return try replace(name, in: directory, flags)
  }

  /// The old file is removed after the new one exists: its inode is not reused at once.
  private static func replace(_ name: String, in directory: Directory, _ flags: Int32) throws(TransferError)
    -> PartialFile
  {
    let temporary = name + ".new"
    unlinkat(directory.descriptor, temporary, 0)
    let descriptor = linux_openat(directory.descriptor, temporary, flags, partialMode)
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

  /// Opens the existing file, if it is a regular file of this user and the expected one. Never waits for a FIFO.
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

  /// What the kernel knows of the file now; `nil` if it cannot be examined.
  private var status: stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  /// The file's current size.
  var size: Int64 { status.map { Int64($0.st_size) } ?? 0 }

  /// The file's current version.
  var stamp: FileStamp? { status.flatMap { FileStamp($0) } }

  /// Identifies the file as it is now, also after it got another name.
  var version: SourceIdentity? { status.map { SourceIdentity($0) } }

  /// The time of the last change of its bytes.
  var modified: timespec? { status?.st_mtim }

  /// Sets the modification time. The time of the last access stays. A file system that cannot keep the time is no reason to
  /// lose the file.
  func setModified(_ time: timespec) {
    var times = [timespec(tv_sec: 0, tv_nsec: Int(linux_keep_time)), time]
    futimens(descriptor, &times)
  }

  /// Sets extended attributes, as far as the file system can keep them.
  func setExtended(_ attributes: [String: String]) {
    for (name, value) in attributes { _ = linux_set_attribute(descriptor, name, value, UInt64(value.utf8.count)) }
  }

  /// Bytes of the disk that the file already has, written or only reserved.
  var allocatedBytes: Int64 {
    guard let status else { return 0 }
    return (CheckedNumber(status.st_blocks) * 512).value ?? 0
  }

  /// Writes all bytes, in as many calls as needed.
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

  /// Reads exactly this many bytes.
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

  /// Reserves space for the whole file without changing its length, so that segments are written to few extents, where the
  /// file system can do that and has the space. Not on tmpfs: it has no extents, and fills all the memory at once with
  /// zeros, a third of a second for each GiB. Blocks.
  func reserveSpace(_ total: Int64) {
    guard linux_file_system_type(descriptor) != Self.tmpfs else { return }
    _ = linux_reserve_space(descriptor, total)
  }

  /// TMPFS_MAGIC of statfs(2).
  private static let tmpfs: Int64 = 0x0102_1994

  /// Syncs bytes and length to disk. Blocks; not for the transfer loop. After an error the data counts as lost: the
  /// kernel may have dropped the pages, and a second call would report success (fsync(2)). So every later call fails
  /// too.
  func synchronize() throws(TransferError) {
    try checkData()
    let code = syncsTime.load(ordering: .acquiring) ? fsync(descriptor) : fdatasync(descriptor)
    if code != 0 { throw loseData(errno) }
  }

  /// Syncs the file system of the file. Blocks.
  /// - Returns: 0, or the error of a write, of any file, since this file was opened or since the last call.
  func synchronizeFileSystem() -> Int32 { linux_sync_file_system(descriptor) == 0 ? 0 : errno }

  /// From now on a sync includes the modification time, which fdatasync(2) may leave out.
  func syncTime() { syncsTime.store(true, ordering: .releasing) }

  /// - Throws: if an earlier sync failed.
  func checkData() throws(TransferError) {
    guard hasLostData.load(ordering: .acquiring) else { return }
    throw .file(.io("cannot sync \(path) to disk: an earlier sync failed", errno: EIO))
  }

  /// Counts the file's data as lost after a failed sync.
  /// - Returns: the error that describes it.
  func loseData(_ code: Int32) -> TransferError {
    hasLostData.store(true, ordering: .releasing)
    return .file(.system("cannot sync \(path) to disk", errno: code))
  }

  /// The digests of the whole file. Blocks.
  func digests(_ algorithms: Set<DigestAlgorithm>) throws(TransferError) -> [DigestAlgorithm: String] {
    try digests(algorithms, of: 0..<size)  // checked: fstat(2) reports no size below 0
  }

  /// The digests of bytes that are all on disk. Blocks.
  func digests(
    _ algorithms: Set<DigestAlgorithm>, of range: Range<Int64>
  ) throws(TransferError) -> [DigestAlgorithm: String] {
    var digester = Digester(algorithms)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, min(1 << 20, range.count)), alignment: 4096)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      // checked: offset < upperBound
      let count = Int(min(Int64(buffer.count), range.upperBound - offset))
      let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      try read(into: bytes, at: offset)
      digester.update(UnsafeRawBufferPointer(bytes))
      offset += Int64(count)  // checked: at most the upper bound
    }
    return digester.finalize()
  }

  /// Whether the file has these bytes at the offset.
  func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(TransferError) -> Bool {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    defer { copy.deallocate() }
    try read(into: copy, at: offset)
    return bytes.elementsEqual(UnsafeRawBufferPointer(copy))
  }

  /// Gives the file its final name. An existing file stays complete until then; without `replacing` it stays and this
  /// throws `.destinationExists`. Only regular files and symbolic links are replaced: a device like `/dev/null`, a FIFO or a
  /// socket belongs to programs that use it. The name is durable only after `Directory.synchronize`. Without its final name the
  /// file keeps mode 0600.
  /// - Parameters:
  ///   - target: another directory on the same file system; `nil` for the part file's own.
  ///   - permissions: of the file; `nil`: those of the replaced file, else the user's default.
  ///   - modified: the file's modification time; `nil`: that of its last byte.
  /// - Throws: `.io` with `EXDEV` if the target is on another file system.
  func rename(
    to finalName: String, in target: Directory? = nil, replacing: Bool, permissions: mode_t? = nil,
    modified: timespec? = nil
  ) throws(TransferError) {
    let target = target ?? directory
    // The final mode is the user's default, or the mode of the replaced file.
    var mode = FileMode.ordinary
    var status = stat()
    if replacing, fstatat(target.descriptor, finalName, &status, AT_SYMLINK_NOFOLLOW) == 0 {
      switch status.st_mode & S_IFMT {
      case S_IFREG: mode = status.st_mode & 0o777
      case S_IFLNK: break
      case S_IFDIR: throw .file(.destinationExists(target.path + "/" + finalName + " (a directory)"))
      default: throw .file(.destinationExists(target.path + "/" + finalName + " (not a regular file)"))
      }
    }
    // While the file is copied to its destination, others must not read it here.
    guard directory.canRename(to: target) else {
      throw .file(.system("cannot rename \(path) to \(finalName)", errno: EXDEV))
    }
    fchmod(descriptor, permissions ?? mode)
    if let modified { setModified(modified) }
    let code =
      replacing
      ? renameat(directory.descriptor, name, target.descriptor, finalName)
      : renameWithoutReplacing(to: finalName, in: target)
    guard code == 0 else {
      let reason = errno
      fchmod(descriptor, Self.partialMode)
      if reason == EEXIST || reason == EISDIR || reason == ENOTEMPTY {
        throw .file(.destinationExists(target.path + "/" + finalName))
      }
      throw .file(.system("cannot rename \(path) to \(finalName)", errno: reason))
    }
  }

  /// If the file system has no RENAME_NOREPLACE (EINVAL: NFS, FUSE), a hard link does the same: it never replaces.
  private func renameWithoutReplacing(to finalName: String, in target: Directory) -> Int32 {
    let code = linux_rename_no_replace(directory.descriptor, name, target.descriptor, finalName)
    guard code != 0, errno == EINVAL || errno == ENOSYS else { return code }
    guard linkat(directory.descriptor, name, target.descriptor, finalName, 0) == 0 else { return -1 }
    unlinkat(directory.descriptor, name, 0)
    return 0
  }
}
