import CLinux
import Digests
import FoundationEssentials
import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Makes the uploads of a watched folder. Pure, except for the check of files that are being written.
struct FolderUploads: Sendable {
  let id: Int64
  let folder: NewFolder
  private let target: UploadTemplate

  /// - Throws: `Problem` for options or a target that no file could use.
  init(id: Int64, _ folder: NewFolder) throws(Problem) {
    self.id = id
    self.folder = folder
    do {
      target = try UploadTemplate(parsing: folder.to)
      try folder.options.check()
    } catch {
      throw Problem(.invalid, error.description)
    }
    if target.uses(.sha256) {
      throw Problem(.invalid, "{sha256} cannot be used for a folder: the daemon does not compute it before an upload")
    }
  }

  /// The upload of a version. Its key stays the same over restarts, so that a kill after the add does not add it again.
  func job(_ version: FileVersion) -> NewJob {
    let seconds = version.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
    let file = UploadedFile(
      path: folder.directory.appendingName(version.path), relativePath: version.path, size: version.size,
      modifiedSeconds: seconds.quotient, modifiedNanoseconds: max(0, seconds.remainder))
    var job = folder.job
    job.source = file.path
    target.fill(&job, for: file, keepsPath: folder.recursive)
    let path = HashFunction.sha256.digest(of: Array(version.path.utf8)).prefix(16).hex
    job.key = "folder-\(id):\(path):\(version.size):\(version.modified)"
    return job
  }

  enum Readiness: Equatable, Sendable {
    case ready
    /// A program has it open for writing.
    case written
    /// It is gone, or another version by now.
    case changed
  }

  /// Looks at a file that seems to stand still. Blocks.
  static func readiness(of version: FileVersion, in directory: String) -> Readiness {
    let path = directory.appendingName(version.path)
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    // Without the right to read it nothing is known; the upload says what is wrong.
    guard descriptor >= 0 else { return errno == EACCES || errno == EPERM ? .ready : .changed }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int64(status.st_size) == version.size, SourceIdentity.nanoseconds(status.st_mtim) == version.modified
    else { return .changed }
    return linux_is_open_for_writing(descriptor) == 1 ? .written : .ready
  }
}
