import Glibc
import Store
import TransferAPI
import TransferEngine

/// What the file system says of a file when its upload is added: refused at once rather than found out at night.
struct SourceCheck: Sendable {
  /// Where the caller's jobs may read.
  let readRules: PathRules
  /// Where they may delete files, and move them to.
  let writeRules: PathRules

  /// - Throws: `Problem` with `source-missing`, `permission`, `invalid`; for a move `destination-missing`.
  func check(_ spec: JobSpec) throws(Problem) {
    let path = spec.source
    // First: what is closed to the caller does not even tell whether it exists.
    if spec.spool == nil { try checkRules(spec) }
    var status = stat()
    guard stat(path, &status) == 0 else { throw Self.problem(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Problem(.invalid, "cannot upload \(path): it is \(Self.kind(status.st_mode)), not a regular file")
    }
    // Never blocks: a regular file, and whoever puts a FIFO in its place meanwhile gets O_NONBLOCK.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.problem(path, errno) }
    // The file that was opened, not the one that has its name by now.
    let owner = fstat(descriptor, &status) == 0 ? status.st_uid : nil
    close(descriptor)
    if spec.upload.onSuccess != .keep {
      guard let owner, FileOwnership.mayRemove(fileOf: owner, jobOf: spec.owner) else {
        throw Problem(.permission, "cannot delete or move \(path) afterwards: it belongs to another user")
      }
    }
    try Self.checkAction(spec)
  }

  private func checkRules(_ spec: JobSpec) throws(Problem) {
    let parent = FileActionPerformer.parent(of: spec.source)
    let name = FileActionPerformer.name(of: spec.source)
    do throws(TransferError) {
      try readRules.checkSource(spec.source)
      switch spec.upload.onSuccess {
      case .keep: break
      case .delete: try writeRules.checkDestination(parent, name: name)
      case .move(let directory):
        try writeRules.checkDestination(parent, name: name)
        try writeRules.checkDestination(directory, name: name)
      }
    } catch .file(.permission(let text)) {
      throw Problem(.permission, text)
    } catch {
      // Not there, or not a file: said by the checks that follow.
    }
  }

  private static func checkAction(_ spec: JobSpec) throws(Problem) {
    let directory: String?
    switch spec.upload.onSuccess {
    case .keep: return
    case .delete: directory = nil
    case .move(let target): directory = target
    }
    var link = stat()
    guard lstat(spec.source, &link) == 0, link.st_mode & S_IFMT == S_IFREG else {
      throw Problem(
        .invalid, "cannot delete or move \(spec.source) afterwards: it is a symbolic link; name the file itself")
    }
    let parent = spec.source.lastIndex(of: "/").map { String(spec.source[..<$0]) } ?? ""
    guard access(parent.isEmpty ? "/" : parent, W_OK | X_OK) == 0 else {
      throw Problem(.permission, "cannot delete or move \(spec.source) afterwards: its directory cannot be written")
    }
    guard let directory else { return }
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw Problem(
        .destinationMissing, "the directory \(directory) does not exist; make it before files are moved there")
    }
    guard access(directory, W_OK | X_OK) == 0 else {
      throw Problem(.permission, "cannot move files to \(directory): permission denied")
    }
  }

  private static func problem(_ path: String, _ code: Int32) -> Problem {
    switch code {
    case ENOENT, ENOTDIR: Problem(.sourceMissing, "cannot upload \(path): it does not exist")
    case EACCES, EPERM: Problem(.permission, "cannot upload \(path): permission denied")
    default: Problem(.invalid, "cannot upload \(path): \(String(cString: strerror(code)))")
    }
  }

  private static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    case S_IFBLK, S_IFCHR: "a device"
    default: "something else"
    }
  }
}
