import Digests
import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// Inspects files before they are uploaded.
struct SourceFiles: Sendable {
  let paths: PathResolver
  /// The absolute path of `--root`. Relative paths in lists are resolved below it.
  let root: String?
  /// The current directory.
  let here: String
  let needsDigest: Bool

  /// - Parameters:
  ///   - base: the directory for a relative path; the default is the current directory.
  ///   - origin: the directory argument in which the file was found.
  /// - Throws: `FileFault`, or `CommandFailure` for an invalid path.
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

  /// The path below `--root`; else below the current directory; else below the parent of `origin`; else the name.
  private func relative(_ path: String, _ origin: String?) throws -> String {
    if let root {
      guard let below = Self.below(path, root) else {
        throw CommandFailure(.usage, "cannot upload \(path): it is not below --root \(root)")
      }
      return below
    }
    if let below = Self.below(path, here) { return below }
    if let origin, let below = Self.below(path, origin.parentPath) { return below }
    return String(path.baseName)
  }

  static func below(_ path: String, _ directory: String) -> String? {
    let prefix = directory == "/" ? "/" : directory + "/"
    guard path.hasPrefix(prefix) else { return nil }
    return String(path.dropFirst(prefix.count))
  }

  private static func digest(of path: String) throws -> String {
    if let problem = CryptoLibrary.problem {
      throw CommandFailure(.failed, "cannot compute the digest of \(path): \(problem); install OpenSSL 3")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(path, errno) }
    defer { close(descriptor) }
    var hash = IncrementalHash(.sha256)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(path, errno) }
      guard count > 0 else { break }
      buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    return hash.finalize().hex
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
    case S_IFDIR: "a directory; use --recursive to upload its files"
    case S_IFIFO: "a FIFO; pipe it into \"upload -\""
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }
}
