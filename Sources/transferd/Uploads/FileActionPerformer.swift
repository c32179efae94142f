import CLinux
import Glibc
import Store
import TransferAPI
import TransferEngine

/// Deletes or moves a file that the server has. Every step may be the last one before a crash: what is found tells how far an
/// earlier attempt came, so that doing it again ends the same. A file that is not the very version that was sent is never
/// touched, and nothing that stands in the other directory is ever replaced.
///
/// All of it happens in directories that are open and were checked: a parent that is replaced by a link meanwhile, or was
/// since the job was added, leads nowhere.
struct FileActionPerformer {
  let action: PendingFileAction
  /// Where the job may change files.
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
    /// These directories are still to be synchronized.
    case done(String, touched: [Directory])
    case failed(String)
    /// The disk is full or fails: perhaps later.
    case later(String)
  }

  private var owner: UInt32 { action.owner }
  var path: String { action.path }
  var name: String { Self.name(of: path) }

  func perform() -> Step {
    if action.action == .keep { return .done("kept \(path)", touched: []) }
    let parent: Directory?
    do throws(TransferError) {
      parent = try directories.open(Self.parent(of: path), rules, for: owner)
    } catch .file(.directoryMissing) {
      parent = nil
    } catch {
      return Self.step(what, error)
    }
    switch action.action {
    case .keep: return .done("kept \(path)", touched: [])
    case .delete: return delete(in: parent)
    case .move(let target):
      do throws(TransferError) {
        return move(from: parent, to: try directories.open(target, rules, for: owner))
      } catch {
        return Self.step(what, error)
      }
    }
  }

  /// What could not be done, for messages.
  private var what: String {
    if case .move(let directory) = action.action {
      "cannot move \(path) to \(directory)"
    } else {
      "cannot delete \(path)"
    }
  }

  // MARK: Delete

  /// Renamed first, then looked at: a producer may put a new version under the name at any moment, and that one must stay.
  private func delete(in parent: Directory?) -> Step {
    let gone = Step.done("nothing to delete: \(path) is gone already", touched: [])
    guard let parent else { return gone }
    let aside = ".transferd-\(action.job).deleted"
    if found(aside, in: parent) == .sent { return remove(aside, in: parent) }
    switch found(name, in: parent) {
    case .nothing: return gone
    case .other: return .failed(Self.changed(path))
    case .foreign: return .failed(Self.foreign(path))
    case .sent: break
    }
    guard renameat(parent.descriptor, name, parent.descriptor, aside) == 0 else { return Self.step(what, errno) }
    if found(aside, in: parent) == .sent { return remove(aside, in: parent) }
    guard linux_rename_no_replace(parent.descriptor, aside, parent.descriptor, name) == 0 else {
      return .failed("\(Self.changed(path)); the version between is \(parent.path(of: aside))")
    }
    return .failed(Self.changed(path))
  }

  private func remove(_ file: String, in parent: Directory) -> Step {
    guard unlinkat(parent.descriptor, file, 0) == 0 || errno == ENOENT else { return Self.step(what, errno) }
    return .done("deleted \(path)", touched: [parent])
  }

  // MARK: Move

  private func move(from parent: Directory?, to directory: Directory) -> Step {
    let candidates = Self.names(for: path, job: action.job)
    switch parent.map({ found(name, in: $0) }) ?? .nothing {
    case .other: return .failed(Self.changed(path))
    case .foreign: return .failed(Self.foreign(path))
    case .nothing:
      // An earlier attempt came to its last step, or another program took the file.
      if let there = candidates.first(where: { isSent($0, in: directory, exactInode: false) }) {
        return moved(there, from: parent, to: directory)
      }
      return .failed("cannot move \(path): it is gone")
    case .sent: break
    }
    guard let parent else { return .failed("cannot move \(path): it is gone") }
    for candidate in candidates {
      if let step = rename(from: parent, to: candidate, in: directory, candidates) { return step }
    }
    return .failed("\(what): its names there are taken")
  }

  private func moved(_ candidate: String, from parent: Directory?, to directory: Directory) -> Step {
    .done("moved \(path) to \(directory.path(of: candidate))", touched: [directory] + (parent.map { [$0] } ?? []))
  }

  /// - Returns: `nil` if the name is taken.
  private func rename(
    from parent: Directory, to candidate: String, in directory: Directory, _ candidates: [String]
  ) -> Step? {
    guard linux_rename_no_replace(parent.descriptor, name, directory.descriptor, candidate) != 0 else {
      guard !isSent(candidate, in: directory, exactInode: true) else {
        return moved(candidate, from: parent, to: directory)
      }
      // A new version came under the name between the look and the rename.
      _ = linux_rename_no_replace(directory.descriptor, candidate, parent.descriptor, name)
      return .failed(Self.changed(path))
    }
    switch errno {
    case EEXIST:
      // rename(2) does nothing where both names are of one file.
      guard isSent(candidate, in: directory, exactInode: true) else { return nil }
      guard unlinkat(parent.descriptor, name, 0) == 0 else { return Self.step("cannot move \(path)", errno) }
      return moved(candidate, from: parent, to: directory)
    case EXDEV:
      return FileCopyMove(performer: self, parent: parent, directory: directory, candidates: candidates).perform()
    case EINVAL, ENOSYS:
      // A file system whose rename cannot refuse to replace: a link can.
      guard linkat(parent.descriptor, name, directory.descriptor, candidate, 0) == 0 else {
        return errno == EEXIST ? nil : Self.step(what, errno)
      }
      guard unlinkat(parent.descriptor, name, 0) == 0 else { return Self.step(what, errno) }
      return moved(candidate, from: parent, to: directory)
    default: return Self.step(what, errno)
    }
  }

  // MARK: Looking

  enum Found: Equatable {
    case nothing
    /// The version that the server has.
    case sent
    /// That version, but it is not for this job's owner to delete or move.
    case foreign
    case other
  }

  func found(_ name: String, in directory: Directory) -> Found {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .nothing }
    guard Self.stamp(status) == action.stamp else { return .other }
    return FileOwnership.mayRemove(fileOf: status.st_uid, jobOf: action.owner, daemon: daemon) ? .sent : .foreign
  }

  /// - Parameter exactInode: otherwise a copy with the same length and time counts too.
  private func isSent(_ name: String, in directory: Directory, exactInode: Bool) -> Bool {
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

  /// `nil` for what is no regular file. The time wraps around beyond the year 2262, as the engine's does.
  static func stamp(_ status: stat) -> SourceStamp? {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    return SourceStamp(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
  }

  /// Its own name, then one that no other job chooses: `a.csv`, `a.job-7.csv`.
  static func names(for path: String, job: JobID) -> [String] {
    let name = name(of: path)
    var stem = name[...]
    var ending: Substring = ""
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 {
      stem = name[..<dot]
      ending = name[dot...]
    }
    let mark = ".job-\(job)"
    while stem.utf8.count + mark.utf8.count + ending.utf8.count > 255 { stem.removeLast() }
    return [name, stem + mark + ending]
  }

  static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func foreign(_ path: String) -> String { "kept \(path): it belongs to another user" }

  static func changed(_ path: String) -> String { "kept \(path): it changed after it was uploaded" }

  /// A directory that cannot be opened, or that the rules refuse.
  static func step(_ what: String, _ error: TransferError) -> Step {
    if case .file(.io(_, let code)) = error { return step(what, code) }
    return .failed("\(what): \(error.description)")
  }

  static func step(_ what: String, _ code: Int32) -> Step {
    let text = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT, EIO, ESTALE, ENOMEM, EMFILE, ENFILE: return .later(text)
    default: return .failed(text)
    }
  }
}

/// The directories of some file actions: each is opened and checked once for each user, and all use the same descriptor.
final class OpenDirectories {
  private struct Key: Hashable {
    var path: String
    var owner: UInt32
  }

  private var known: [Key: Directory] = [:]

  var count: Int { known.count }

  /// - Parameter owner: whose rules these are.
  func open(_ path: String, _ rules: PathRules, for owner: UInt32) throws(TransferError) -> Directory {
    let key = Key(path: path, owner: owner)
    if let directory = known[key] { return directory }
    let directory = try Directory.open(path, rules: rules)
    known[key] = directory
    return directory
  }
}
