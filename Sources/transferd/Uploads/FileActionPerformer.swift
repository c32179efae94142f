import CLinux
import Glibc
import Store
import TransferAPI

/// Deletes or moves a file that the server has. Every step may be the last one before a crash: what is found tells how far an
/// earlier try came, so that doing it again ends the same. A file that is not the very version that was sent is never touched,
/// and nothing that stands in the other directory is ever replaced.
struct FileActionPerformer {
  let action: PendingFileAction
  /// The daemon's uid.
  var daemon = geteuid()

  enum Step: Equatable, Sendable {
    /// These directories are still to be brought to the disk.
    case done(String, touched: [String])
    case failed(String)
    /// The disk is full or fails: perhaps later.
    case later(String)
  }

  var path: String { action.path }
  var parent: String { Self.parent(of: path) }

  func perform() -> Step {
    switch action.action {
    case .keep: .done("kept \(path)", touched: [])
    case .delete: delete()
    case .move(let directory): move(to: directory)
    }
  }

  // MARK: Delete

  /// Renamed first, looked at then: a producer may put a new version under the name at any moment, and that one must stay.
  private func delete() -> Step {
    let aside = "\(parent == "/" ? "" : parent)/.transferd-\(action.job).deleted"
    if found(at: aside) == .sent { return remove(aside) }
    switch found(at: path) {
    case .nothing: return .done("nothing to delete: \(path) is gone already", touched: [])
    case .other: return .failed(Self.changed(path))
    case .foreign: return .failed(Self.foreign(path))
    case .sent: break
    }
    guard Glibc.rename(path, aside) == 0 else { return Self.step("cannot delete \(path)", errno) }
    if found(at: aside) == .sent { return remove(aside) }
    guard linux_rename_no_replace(AT_FDCWD, aside, AT_FDCWD, path) == 0 else {
      return .failed("\(Self.changed(path)); the version between is \(aside)")
    }
    return .failed(Self.changed(path))
  }

  private func remove(_ file: String) -> Step {
    guard unlink(file) == 0 || errno == ENOENT else { return Self.step("cannot delete \(path)", errno) }
    return .done("deleted \(path)", touched: [parent])
  }

  // MARK: Move

  private func move(to directory: String) -> Step {
    let candidates = Self.names(for: path, job: action.job).map { (directory == "/" ? "" : directory) + "/" + $0 }
    switch found(at: path) {
    case .other: return .failed(Self.changed(path))
    case .foreign: return .failed(Self.foreign(path))
    case .nothing:
      // An earlier try came to its last step, or somebody else took the file.
      if let there = candidates.first(where: { isSent($0, exactInode: false) }) {
        return .done("moved \(path) to \(there)", touched: [directory, parent])
      }
      return .failed("cannot move \(path): it is gone")
    case .sent: break
    }
    for candidate in candidates {
      if let step = rename(to: candidate, in: directory, candidates) { return step }
    }
    return .failed("cannot move \(path) to \(directory): its names there are taken")
  }

  /// - Returns: `nil` where the name is taken.
  private func rename(to candidate: String, in directory: String, _ candidates: [String]) -> Step? {
    guard linux_rename_no_replace(AT_FDCWD, path, AT_FDCWD, candidate) != 0 else {
      guard !isSent(candidate, exactInode: true) else {
        return .done("moved \(path) to \(candidate)", touched: [directory, parent])
      }
      // A new version came under the name between the look and the rename.
      _ = linux_rename_no_replace(AT_FDCWD, candidate, AT_FDCWD, path)
      return .failed(Self.changed(path))
    }
    switch errno {
    case EEXIST:
      // rename(2) does nothing where both names are of one file.
      guard isSent(candidate, exactInode: true) else { return nil }
      guard unlink(path) == 0 else { return Self.step("cannot move \(path)", errno) }
      return .done("moved \(path) to \(candidate)", touched: [directory, parent])
    case EXDEV: return FileCopyMove(performer: self, directory: directory, candidates: candidates).perform()
    case EINVAL, ENOSYS:
      // A file system whose rename cannot refuse to replace: a link can.
      guard link(path, candidate) == 0 else { return errno == EEXIST ? nil : moveFailure(directory) }
      guard unlink(path) == 0 else { return moveFailure(directory) }
      return .done("moved \(path) to \(candidate)", touched: [directory, parent])
    default: return moveFailure(directory)
    }
  }

  private func moveFailure(_ directory: String) -> Step { Self.step("cannot move \(path) to \(directory)", errno) }

  // MARK: Looking

  enum Found: Equatable {
    case nothing
    /// The version that the server has.
    case sent
    /// That version, but it is not for this job's owner to delete or move.
    case foreign
    case other
  }

  func found(at path: String) -> Found {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .nothing }
    guard Self.stamp(status) == action.stamp else { return .other }
    return FileOwnership.mayRemove(fileOf: status.st_uid, jobOf: action.owner, daemon: daemon) ? .sent : .foreign
  }

  /// - Parameter exactInode: otherwise a copy with the same length and time counts too.
  private func isSent(_ path: String, exactInode: Bool) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, var stamp = Self.stamp(status) else { return false }
    if !exactInode {
      stamp.device = action.stamp.device
      stamp.inode = action.stamp.inode
    }
    return stamp == action.stamp
  }

  /// `nil` for what is no regular file.
  static func stamp(_ status: stat) -> SourceStamp? {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    return SourceStamp(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
  }

  /// Its own name, then one that no other job chooses: `a.csv`, `a.job-7.csv`.
  static func names(for path: String, job: JobID) -> [String] {
    let name = path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]
    var stem = name
    var ending: Substring = ""
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 {
      stem = name[..<dot]
      ending = name[dot...]
    }
    let mark = ".job-\(job)"
    while stem.utf8.count + mark.utf8.count + ending.utf8.count > 255 { stem.removeLast() }
    return [String(name), stem + mark + ending]
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func foreign(_ path: String) -> String { "kept \(path): it belongs to another user" }

  static func changed(_ path: String) -> String { "kept \(path): it changed after it was uploaded" }

  static func step(_ what: String, _ code: Int32) -> Step {
    let text = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT, EIO, ESTALE, ENOMEM, EMFILE, ENFILE: return .later(text)
    default: return .failed(text)
    }
  }
}
