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
    do throws(WireError) {
      target = try UploadTemplate(parsing: folder.to)
      try folder.options.check()
    } catch {
      throw Problem(.invalid, text: error.text)
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

  /// Examines a file that seems to have settled, below the opened folder and through no link. Blocks.
  static func readiness(of version: FileVersion, in directory: Directory) -> Readiness {
    var names = version.path.componentsOfPath.map(String.init)
    guard let name = names.popLast() else { return .changed }
    let parent = FolderScan.open(names, below: directory.descriptor)
    guard parent >= 0 else { return unknown(errno) }
    defer { close(parent) }
    // Only a regular file is opened: to open a device could have an effect.
    let file = linux_openat(parent, name, linux_path_only | O_NOFOLLOW | O_CLOEXEC, 0)
    guard file >= 0 else { return unknown(errno) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int64(status.st_size) == version.size, SourceIdentity.nanoseconds(status.st_mtim) == version.modified
    else { return .changed }
    let descriptor = open("/proc/self/fd/\(file)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return unknown(errno) }
    defer { close(descriptor) }
    return linux_is_open_for_writing(descriptor) == 1 ? .written : .ready
  }

  /// Without the right to read a file nothing is known; the upload says what is wrong.
  private static func unknown(_ code: Int32) -> Readiness { code == EACCES || code == EPERM ? .ready : .changed }
}
