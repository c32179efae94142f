import CLinux
import Glibc
import Store
import TransferEngine
import WireValues

/// The files of a watched directory at one moment.
struct FolderScan: Sendable {
  struct File: Equatable, Sendable {
    var version: FileVersion
    /// The last change of the file or its name, in nanoseconds since 1970.
    var changed: Int64
  }

  private(set) var files: [File] = []
  /// There are more files or deeper directories than are examined.
  private(set) var isIncomplete = false
  /// Names that are no UTF-8; their files are passed over.
  private(set) var unusableNames = 0
  /// The directory to which the path led.
  let directory: DirectoryIdentity
  /// Changes by other machines are not reported by the kernel.
  let isRemote: Bool
  /// Counts the files for as long as they are kept.
  let lease: FileBudget.Lease

  static let maximumFiles = 1_000_000
  static let maximumDepth = 64
  /// NFS, SMB, FUSE, 9P, Ceph, AFS, OCFS2, GFS2 and Lustre (statfs(2)).
  private static let remoteTypes: Set<Int64> = [
    0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F, 0x7461_636F, 0x0116_1970,
    0x0BD0_0BD0,
  ]

  private init(directory: DirectoryIdentity, isRemote: Bool, lease: FileBudget.Lease) {
    self.directory = directory
    self.isRemote = isRemote
    self.lease = lease
  }

  /// Looks at every name once. Passed over: names that begin with a dot or end in `.part` or `.tmp`, symbolic links, and
  /// everything that is no regular file. Blocks.
  /// - Parameters:
  ///   - rules: where the folder may be; checked on the opened directory.
  ///   - budget: how many files there may be, together with those of other folders.
  ///   - willList: called with the descriptor of each directory before it is read.
  /// - Throws: if the directory itself cannot be read. Subdirectories that cannot be read are passed over.
  static func scan(
    _ root: String, rules: PathRules, recursive: Bool, budget: FileBudget = FileBudget(maximumFiles),
    willList: (Int32) -> Void
  ) throws(TransferError) -> FolderScan {
    let directory = try Directory.open(root, rules: rules)
    var scan = FolderScan(
      directory: directory.identity, isRemote: remoteTypes.contains(linux_file_system_type(directory.descriptor)),
      lease: budget.lease())
    // Paths, not descriptors: a directory may have any number of subdirectories.
    var waiting: [(path: String, depth: Int)] = [("", 0)]
    while let (path, depth) = waiting.popLast() {
      let descriptor = open(path.componentsOfPath.map(String.init), below: directory.descriptor)
      guard descriptor >= 0 else {
        if path.isEmpty { throw .file(.io("cannot read the directory \(root)", errno: errno)) }
        continue
      }
      willList(descriptor)
      let subdirectories = scan.list(descriptor, path)
      guard recursive else { continue }
      guard depth < maximumDepth, waiting.count + subdirectories.count < maximumFiles else {
        if !subdirectories.isEmpty { scan.isIncomplete = true }
        continue
      }
      // checked: at most the maximum
      waiting += subdirectories.map { (path.isEmpty ? $0 : path + "/" + $0, depth + 1) }
    }
    return scan
  }

  /// Opens a directory below another one, never through a symbolic link.
  /// - Returns: a descriptor, or -1 with `errno`.
  static func open(_ names: [String], below root: Int32) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var descriptor = linux_openat(root, ".", flags, 0)
    for name in names where descriptor >= 0 {
      let parent = descriptor
      descriptor = linux_openat(parent, name, flags, 0)
      let code = errno
      close(parent)
      errno = code
    }
    return descriptor
  }

  /// Takes the files of one directory, and closes it.
  /// - Returns: the names of its subdirectories.
  private mutating func list(_ descriptor: Int32, _ path: String) -> [String] {
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(stream) }
    var subdirectories: [String] = []
    while let entry = readdir(stream) {
      guard entry.pointee.d_name.0 != UInt8(ascii: ".") else { continue }
      let text = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
      }
      guard let name = text else {
        unusableNames += 1  // checked: entries of directories
        continue
      }
      var status = stat()
      guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        subdirectories.append(name)
        continue
      }
      guard status.st_mode & S_IFMT == S_IFREG, !name.hasSuffix(".part"), !name.hasSuffix(".tmp") else { continue }
      guard lease.take() else {
        isIncomplete = true
        continue
      }
      let version = FileVersion(
        path: path.isEmpty ? name : path + "/" + name, size: Int64(status.st_size),
        modified: SourceIdentity.nanoseconds(status.st_mtim))
      files.append(File(version: version, changed: SourceIdentity.nanoseconds(status.st_ctim)))
    }
    return subdirectories
  }
}

extension SourceIdentity {
  /// A time beyond the year 2262 wraps around, as in the engine: times are only compared.
  static func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
}
