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
  /// There are more files or deeper directories than are looked at.
  private(set) var isIncomplete = false

  static let maximumFiles = 1_000_000
  static let maximumDepth = 64

  /// Looks at every name once. Passed over: names that begin with a dot or end in `.part` or `.tmp`, symbolic links, and
  /// everything that is no regular file. Blocks.
  /// - Parameters:
  ///   - rules: where the folder may be; checked on the opened directory.
  ///   - willList: called with the path of each directory before it is read.
  /// - Throws: if the directory itself cannot be read. Subdirectories that cannot be read are passed over.
  static func scan(
    _ root: String, rules: PathRules, recursive: Bool, willList: (String) -> Void
  ) throws(TransferError) -> FolderScan {
    let directory = try Directory.open(root, rules: rules)
    var scan = FolderScan()
    // Paths, not descriptors: a directory may have any number of subdirectories.
    var waiting: [(path: String, depth: Int)] = [("", 0)]
    while let (path, depth) = waiting.popLast() {
      willList(path.isEmpty ? root : root.appendingName(path))
      let descriptor = open(path, below: directory.descriptor)
      guard descriptor >= 0 else {
        if path.isEmpty { throw .file(.io("cannot read the directory \(root)", errno: errno)) }
        continue
      }
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
  private static func open(_ path: String, below root: Int32) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var descriptor = linux_openat(root, ".", flags, 0)
    for name in path.componentsOfPath where descriptor >= 0 {
      let parent = descriptor
      descriptor = linux_openat(parent, String(name), flags, 0)
      close(parent)
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
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
      }
      guard let name, !name.hasPrefix(".") else { continue }
      var status = stat()
      guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        subdirectories.append(name)
        continue
      }
      guard status.st_mode & S_IFMT == S_IFREG, !name.hasSuffix(".part"), !name.hasSuffix(".tmp") else { continue }
      guard files.count < Self.maximumFiles else {
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
