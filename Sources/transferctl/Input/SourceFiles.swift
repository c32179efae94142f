import Crypto
import FoundationEssentials
import Glibc
import TransferAPI

/// What the file system says against one file; the others are uploaded all the same.
struct FileFault: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String
  /// It is not there, though a list named it.
  var isMissing = false
}

/// Looks at files that are to be uploaded.
struct SourceFiles: Sendable {
  let paths: PathResolver
  /// `--root`, absolute; relative paths of lists are below it.
  let root: String?
  /// Where we are.
  let here: String
  let needsDigest: Bool

  /// - Parameters:
  ///   - base: where relative paths are; the current directory otherwise.
  ///   - origin: the directory that was named, if the file was found in it.
  /// - Throws: `FileFault`, or `CommandFailure` for a path that cannot be one.
  func file(_ path: String, relativeTo base: String? = nil, foundIn origin: String? = nil) throws -> UploadedFile {
    let path = try paths.absolute(path, relativeTo: base)
    var status = stat()
    guard stat(path, &status) == 0 else { throw Self.fault(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileFault(status: .usage, description: "cannot upload \(path): it is \(Self.kind(status.st_mode))")
    }
    guard access(path, R_OK) == 0 else { throw Self.fault(path, errno) }
    var file = UploadedFile(
      path: path, relativePath: try relative(path, origin), size: Int64(status.st_size),
      modifiedSeconds: Int64(status.st_mtim.tv_sec), modifiedNanoseconds: Int64(status.st_mtim.tv_nsec))
    if needsDigest { file.sha256 = try Self.digest(of: path) }
    return file
  }

  /// Below `--root`, else below where we are, else below the parent of the directory that was named; else the name.
  private func relative(_ path: String, _ origin: String?) throws -> String {
    if let root {
      guard let below = Self.below(path, root) else {
        throw CommandFailure(.usage, "\(path) is not below --root \(root)")
      }
      return below
    }
    if let below = Self.below(path, here) { return below }
    if let origin, let below = Self.below(path, Self.parent(origin)) { return below }
    return String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...])
  }

  static func below(_ path: String, _ directory: String) -> String? {
    let prefix = directory == "/" ? "/" : directory + "/"
    guard path.hasPrefix(prefix) else { return nil }
    return String(path.dropFirst(prefix.count))
  }

  private static func parent(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func digest(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(path, errno) }
    defer { close(descriptor) }
    var hash = SHA256()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(path, errno) }
      guard count > 0 else { break }
      buffer.withUnsafeBytes { hash.update(bufferPointer: .init(rebasing: $0[..<count])) }
    }
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  static func fault(_ path: String, _ code: Int32) -> FileFault {
    switch code {
    case ENOENT, ENOTDIR:
      FileFault(status: .failed, description: "cannot upload \(path): it does not exist", isMissing: true)
    case EACCES, EPERM: FileFault(status: .permission, description: "cannot upload \(path): permission denied")
    default: FileFault(status: .failed, description: "cannot upload \(path): \(String(cString: strerror(code)))")
    }
  }

  private static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory; its files are sent with --recursive"
    case S_IFIFO: "a FIFO; pipe it into \"upload -\""
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }
}

/// The files in a directory and all below it, in the order of their names. Symbolic links and what is no regular file are passed
/// over, and counted.
struct DirectoryWalk {
  private(set) var files: [String] = []
  private(set) var faults: [FileFault] = []
  private(set) var passedOver = 0

  init(_ directory: String) { walk(directory) }

  private mutating func walk(_ directory: String) {
    guard let stream = opendir(directory) else {
      faults.append(SourceFiles.fault(directory, errno))
      return
    }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { text -> String? in
          if let name = String(validatingCString: text) { return name }
          faults.append(
            FileFault(
              status: .usage,
              description: "cannot upload a file of \(directory): its name is not UTF-8: \(String(cString: text))"))
          return nil
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    closedir(stream)
    for name in names.sorted() {
      let path = directory == "/" ? "/" + name : directory + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: files.append(path)
      case S_IFDIR: walk(path)
      default: passedOver += 1
      }
    }
  }
}
