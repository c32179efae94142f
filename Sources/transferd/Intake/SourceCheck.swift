import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Checks the source file of a new upload, so that the caller learns of an error at once and not when the job runs.
struct SourceCheck: Sendable {
  /// The rules for where the caller's jobs may read.
  let readRules: PathRules
  /// The rules for where they may delete files or move files to.
  let writeRules: PathRules

  /// Checks one upload.
  /// - Throws: `Problem` with `source-missing`, `permission` or `invalid`; for a move also `destination-missing`.
  func check(_ spec: JobSpec) throws(Problem) {
    let path = spec.source
    // First, so that a caller cannot find out whether a forbidden path exists.
    if spec.spool == nil { try checkRules(spec) }
    var status = stat()
    guard stat(path, &status) == 0 else { throw Self.problem(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Problem(.invalid, "cannot upload \(path): it is \(Self.kind(status.st_mode)), not a regular file")
    }
    // O_NONBLOCK: if the file was replaced by a FIFO since the check above, open(2) must not block.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.problem(path, errno) }
    // The owner of the open file; the name may refer to another file by now.
    let owner = fstat(descriptor, &status) == 0 ? status.st_uid : nil
    close(descriptor)
    if spec.options.onSuccess != .keep {
      guard let owner, FileOwnership.mayRemove(fileOf: owner, jobOf: spec.owner) else {
        throw Problem(.permission, "cannot delete or move \(path) afterwards: it belongs to another user")
      }
    }
    try Self.checkAction(spec)
  }

  /// What stat(2) says of a file that may be read.
  /// - Parameter rules: the rules for where the caller's jobs may read.
  /// - Throws: `Problem` with `source-missing`, `permission` or `invalid`.
  static func status(of path: String, _ rules: PathRules) throws(Problem) -> stat {
    do throws(TransferError) {
      // First, so that a caller cannot find out whether a forbidden path exists.
      try rules.checkSource(path)
    } catch .file(.permission(let text)) {
      throw Problem(.permission, text)
    } catch {
      // The file is missing or not a regular file: stat(2) reports it.
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw problem(path, errno) }
    return status
  }

  private func checkRules(_ spec: JobSpec) throws(Problem) {
    let parent = spec.source.parentPath
    let name = String(spec.source.baseName)
    do throws(TransferError) {
      try readRules.checkSource(spec.source)
      switch spec.options.onSuccess {
      case .keep: break
      case .delete: try writeRules.checkDestination(parent, name: name)
      case .move(let directory):
        try writeRules.checkDestination(parent, name: name)
        try writeRules.checkDestination(directory, name: name)
      }
    } catch .file(.permission(let text)) {
      throw Problem(.permission, text)
    } catch {
      // The file is missing or not a regular file: the checks that follow report this.
    }
  }

  private static func checkAction(_ spec: JobSpec) throws(Problem) {
    let directory: String?
    switch spec.options.onSuccess {
    case .keep: return
    case .delete: directory = nil
    case .move(let target): directory = target
    }
    var link = stat()
    guard lstat(spec.source, &link) == 0, link.st_mode & S_IFMT == S_IFREG else {
      throw Problem(
        .invalid, "cannot delete or move \(spec.source) afterwards: it is a symbolic link; name the file itself")
    }
    guard access(spec.source.parentPath, W_OK | X_OK) == 0 else {
      throw Problem(.permission, "cannot delete or move \(spec.source) afterwards: its directory cannot be written")
    }
    if let directory { try DestinationCheck.checkMoveDirectory(directory) }
  }

  private static func problem(_ path: String, _ code: Int32) -> Problem {
    switch code {
    case ENOENT, ENOTDIR: Problem(.sourceMissing, "cannot upload \(path): it does not exist")
    case EACCES, EPERM: Problem(.permission, "cannot upload \(path): permission denied")
    default: Problem(.invalid, "cannot upload \(path): \(String(cString: strerror(code)))")
    }
  }

  /// What is not a regular file, for messages.
  static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    case S_IFBLK, S_IFCHR: "a device"
    default: "something else"
    }
  }
}
