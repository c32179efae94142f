import CLinux
import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Deletes or moves a source file after its upload, or moves a downloaded file. The daemon may crash between any two steps:
/// the files on disk then show which steps were done, and repeating the action has the same result. Only the exact version
/// that was transferred is deleted or moved, and no existing file is replaced.
///
/// All steps use descriptors of directories that were opened and checked. So replacing a parent directory by a link, even
/// before this action, cannot redirect it.
struct FileActionPerformer {
  let action: PendingFileAction
  /// The rules for where the job may change files.
  let rules: PathRules
  /// The daemon's uid.
  let daemon: UInt32
  let directories: OpenDirectories

  init(
    action: PendingFileAction, rules: PathRules = .none, daemon: UInt32 = geteuid(),
    directories: OpenDirectories = OpenDirectories()
  ) {
    self.action = action
    self.rules = rules
    self.daemon = daemon
    self.directories = directories
  }

  enum Step: Equatable {
    /// The action is done; these directories must still be synced.
    case done(String, touched: [Directory])
    case failed(String)
    /// A temporary failure, such as a full disk; try again later.
    case retryLater(String)
  }

  private var owner: UInt32 { action.owner }
  var path: String { action.path }
  var name: String { String(path.baseName) }

  func perform() -> Step {
    if action.action == .keep { return .done("kept \(path)", touched: []) }
    let parent: Directory?
    do throws(TransferError) {
      parent = try directories.open(path.parentPath, rules, for: owner)
    } catch .file(.directoryMissing) {
      parent = nil
    } catch {
      return Self.step(failedAction, error)
    }
    switch action.action {
    case .keep: return .done("kept \(path)", touched: [])
    case .delete: return delete(in: parent)
    case .move(let target):
      do throws(TransferError) {
        return move(from: parent, to: try directories.open(target, rules, for: owner))
      } catch {
        return Self.step(failedAction, error)
      }
    }
  }

  /// The first part of error messages.
  private var failedAction: String {
    if case .move(let directory) = action.action {
      "cannot move \(path) to \(directory)"
    } else {
      "cannot delete \(path)"
    }
  }

  // MARK: Delete

  /// Renames the file before checking it, because another program may replace it at any moment and a new version must stay.
  private func delete(in parent: Directory?) -> Step {
    let gone = Step.done("nothing to delete: \(path) does not exist any more", touched: [])
    guard let parent else { return gone }
    let hidden = ".transferd-\(action.job).deleted"
    switch match(of: hidden, in: parent) {
    case .uploaded: return remove(hidden, in: parent)
    // A crash came between the rename of a version that was there already and the check of it.
    case .changed: return giveBack(hidden, in: parent)
    case .missing, .foreign: break
    }
    switch match(of: name, in: parent) {
    case .missing: return gone
    case .changed: return .failed(changed)
    case .foreign: return .failed(Self.foreign(path))
    case .uploaded: break
    }
    guard renameat(parent.descriptor, name, parent.descriptor, hidden) == 0 else {
      return Self.step(failedAction, errno)
    }
    if match(of: hidden, in: parent) == .uploaded { return remove(hidden, in: parent) }
    return giveBack(hidden, in: parent)
  }

  /// Gives another version than the one that was uploaded its name back.
  private func giveBack(_ hidden: String, in parent: Directory) -> Step {
    guard linux_rename_no_replace(parent.descriptor, hidden, parent.descriptor, name) == 0 else {
      return .failed("\(changed); an intermediate version is kept as \(parent.path(of: hidden))")
    }
    return .failed(changed)
  }

  private func remove(_ file: String, in parent: Directory) -> Step {
    guard unlinkat(parent.descriptor, file, 0) == 0 || errno == ENOENT else { return Self.step(failedAction, errno) }
    return .done("deleted \(path)", touched: [parent])
  }

  // MARK: Move

  private func move(from parent: Directory?, to directory: Directory) -> Step {
    // Within one directory the file and its target are one name, which must not be deleted as a second link to the file.
    if let parent, parent == directory { return .done("kept \(path): it is in \(directory.path) already", touched: []) }
    let candidates = Self.names(for: path, job: action.job)
    switch parent.map({ match(of: name, in: $0) }) ?? .missing {
    case .changed: return .failed(changed)
    case .foreign: return .failed(Self.foreign(path))
    case .missing:
      // An earlier run moved the file and then crashed, or another program removed it.
      if let target = candidates.first(where: { isUploaded($0, in: directory, exactInode: false) }) {
        return moved(target, from: parent, to: directory)
      }
      return .failed("cannot move \(path): it does not exist any more")
    case .uploaded: break
    }
    guard let parent else { return .failed("cannot move \(path): it does not exist any more") }
    for candidate in candidates {
      if let step = rename(from: parent, to: candidate, in: directory, candidates) { return step }
    }
    return .failed("\(failedAction): files with its names exist there")
  }

  private func moved(_ candidate: String, from parent: Directory?, to directory: Directory) -> Step {
    .done("moved \(path) to \(directory.path(of: candidate))", touched: [directory] + (parent.map { [$0] } ?? []))
  }

  /// Renames the file to one candidate name.
  /// - Returns: `nil` if the name is taken.
  private func rename(
    from parent: Directory, to candidate: String, in directory: Directory, _ candidates: [String]
  ) -> Step? {
    guard linux_rename_no_replace(parent.descriptor, name, directory.descriptor, candidate) != 0 else {
      guard !isUploaded(candidate, in: directory, exactInode: true) else {
        return moved(candidate, from: parent, to: directory)
      }
      // The file was replaced between the check and the rename: move the new version back.
      _ = linux_rename_no_replace(directory.descriptor, candidate, parent.descriptor, name)
      return .failed(changed)
    }
    switch errno {
    case EEXIST:
      // rename(2) does nothing if both names refer to the same file.
      guard isUploaded(candidate, in: directory, exactInode: true) else { return nil }
      guard unlinkat(parent.descriptor, name, 0) == 0 else { return Self.step("cannot move \(path)", errno) }
      return moved(candidate, from: parent, to: directory)
    case EXDEV:
      return FileCopyMove(performer: self, parent: parent, directory: directory, candidates: candidates).perform()
    case EINVAL, ENOSYS:
      // The file system does not support RENAME_NOREPLACE, so use a link and an unlink.
      guard linkat(parent.descriptor, name, directory.descriptor, candidate, 0) == 0 else {
        return errno == EEXIST ? nil : Self.step(failedAction, errno)
      }
      guard unlinkat(parent.descriptor, name, 0) == 0 else { return Self.step(failedAction, errno) }
      return moved(candidate, from: parent, to: directory)
    default: return Self.step(failedAction, errno)
    }
  }

  // MARK: Comparing

  /// How a file compares with the version that was uploaded.
  enum Match: Equatable {
    case missing
    /// The version that was transferred.
    case uploaded
    /// That version, but this job's owner may not delete or move it.
    case foreign
    /// Another version or another kind of file.
    case changed
  }

  func match(of name: String, in directory: Directory) -> Match {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .missing }
    guard Self.stamp(status) == action.stamp else { return .changed }
    if action.isDownloaded { return .uploaded }
    return FileOwnership.mayRemove(fileOf: status.st_uid, jobOf: action.owner, daemon: daemon) ? .uploaded : .foreign
  }

  /// Whether a file is the version that was uploaded.
  /// - Parameter exactInode: if `false`, a copy with the same length and time counts too.
  private func isUploaded(_ name: String, in directory: Directory, exactInode: Bool) -> Bool {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, var stamp = Self.stamp(status) else {
      return false
    }
    if !exactInode {
      stamp.device = action.stamp.device
      stamp.inode = action.stamp.inode
    }
    return stamp == action.stamp
  }

  /// The stamp of a regular file; `nil` for other kinds.
  static func stamp(_ status: stat) -> SourceIdentity? {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    return SourceIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  /// The names for the moved file: its own name, then one that is unique to the job, such as `a.job-7.csv`.
  static func names(for path: String, job: JobID) -> [String] {
    let name = String(path.baseName)
    var stem = name[...]
    var ending: Substring = ""
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 {
      stem = name[..<dot]
      ending = name[dot...]
    }
    let suffix = ".job-\(job)"
    while stem.utf8.count + suffix.utf8.count + ending.utf8.count > 255 { stem.removeLast() }
    return [name, stem + suffix + ending]
  }

  static func foreign(_ path: String) -> String { "kept \(path): it belongs to another user" }

  var changed: String { "kept \(path): it changed after it was \(action.isDownloaded ? "downloaded" : "uploaded")" }

  /// The result if a directory cannot be opened or the rules forbid it.
  static func step(_ action: String, _ error: TransferError) -> Step {
    if case .file(.io(_, let code)) = error { return step(action, code) }
    return .failed("\(action): \(error.description)")
  }

  static func step(_ action: String, _ code: Int32) -> Step {
    let text = "\(action): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT, EROFS, EIO, ESTALE, ENOMEM, EMFILE, ENFILE: return .retryLater(text)
    default: return .failed(text)
    }
  }
}
