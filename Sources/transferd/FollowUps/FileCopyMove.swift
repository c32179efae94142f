import CLinux
import Glibc
import Store
import TransferEngine
import WireValues

/// Moves a file to another file system: copy it under a hidden name, sync, rename, sync, and then delete the original.
struct FileCopyMove {
  typealias Step = FileActionPerformer.Step

  let performer: FileActionPerformer
  let parent: Directory
  let directory: Directory
  let candidates: [String]

  private var path: String { performer.path }

  func perform() -> Step {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let source = linux_openat(parent.descriptor, performer.name, flags, 0)
    guard source >= 0 else { return failure(errno) }
    defer { close(source) }
    var status = stat()
    guard fstat(source, &status) == 0, FileActionPerformer.stamp(status) == performer.action.stamp else {
      return .failed(performer.changed)
    }
    // If the daemon crashed after the rename, a complete copy exists already.
    if let copy = candidates.first(where: { isCopy($0, of: source, size: Int64(status.st_size)) }) {
      return finish(copy)
    }
    let draft = ".transferd-\(performer.action.job).copy"
    remove(draft)
    if let failed = copy(source, status, to: draft) {
      remove(draft)
      return failed
    }
    for candidate in candidates {
      if linux_rename_no_replace(directory.descriptor, draft, directory.descriptor, candidate) == 0 {
        return finish(candidate)
      }
      guard errno == EEXIST else {
        let code = errno
        remove(draft)
        return failure(code)
      }
    }
    remove(draft)
    return .failed("cannot move \(path) to \(directory.path): files with its names exist there")
  }

  private func copy(_ source: Int32, _ status: stat, to draft: String) -> Step? {
    let target = linux_openat(
      directory.descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
      UInt32(status.st_mode & 0o777))
    guard target >= 0 else { return failure(errno) }
    defer { close(target) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(source, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return failure(errno) }
      guard count > 0 else { break }
      var written = 0
      while written < count {
        // checked: written ≤ count
        let part = buffer.withUnsafeBytes { write(target, $0.baseAddress! + written, count - written) }
        if part < 0, errno == EINTR { continue }
        guard part > 0 else { return failure(errno) }
        written += part  // checked: at most count
      }
    }
    ExtendedAttributes.copy(from: source, to: target)
    // A later run recognises the copy by its modification time. The umask may have reduced the mode.
    let times = [status.st_atim, status.st_mtim]
    guard fchmod(target, status.st_mode & 0o777) == 0, futimens(target, times) == 0, fsync(target) == 0 else {
      return failure(errno)
    }
    // The source must not have changed during the copy.
    var after = stat()
    guard fstat(source, &after) == 0, FileActionPerformer.stamp(after) == performer.action.stamp else {
      return .failed(performer.changed)
    }
    return nil
  }

  /// Deletes the original after the copy was renamed.
  private func finish(_ candidate: String) -> Step {
    guard fsync(directory.descriptor) == 0 else { return failure(errno) }
    let copy = directory.path(of: candidate)
    guard performer.match(of: performer.name, in: parent) == .uploaded else {
      return .failed("\(performer.changed); a copy of the transferred version is \(copy)")
    }
    guard unlinkat(parent.descriptor, performer.name, 0) == 0 else { return failure(errno) }
    return .done("moved \(path) to \(copy)", touched: [parent])
  }

  /// Whether a file is the copy that an earlier run has made: it has the original's time, too. Another file of the same
  /// content is no copy, or the file that is to be moved would vanish.
  private func isCopy(_ candidate: String, of source: Int32, size: Int64) -> Bool {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let other = linux_openat(directory.descriptor, candidate, flags, 0)
    guard other >= 0 else { return false }
    defer { close(other) }
    var status = stat()
    guard fstat(other, &status) == 0, let stamp = FileActionPerformer.stamp(status), stamp.size == size,
      Self.isTime(stamp.modified, of: performer.action.stamp.modified)
    else { return false }
    var (one, two) = ([UInt8](repeating: 0, count: 1 << 18), [UInt8](repeating: 0, count: 1 << 18))
    var offset: Int64 = 0
    while offset < size {
      let count = pread(source, &one, one.count, off_t(offset))
      guard count > 0, pread(other, &two, count, off_t(offset)) == count, one[..<count] == two[..<count] else {
        return false
      }
      offset += Int64(count)  // checked: at most the file's length
    }
    // An incomplete copy never has this name. But the copy's bytes may not be synced yet.
    return fsync(other) == 0
  }

  /// Whether a file has this time as a file system keeps it, in nanoseconds: some cut it to 100 ns, 1 µs, 10 ms, 1 s or 2 s.
  private static func isTime(_ kept: Int64, of time: Int64) -> Bool {
    // checked: the remainder is nearer to 0 than the time
    [1, 100, 1000, 10_000_000, 1_000_000_000, 2_000_000_000].contains { kept == time - time % $0 }
  }

  private func remove(_ draft: String) { unlinkat(directory.descriptor, draft, 0) }

  private func failure(_ code: Int32) -> Step {
    FileActionPerformer.step("cannot move \(path) to \(directory.path)", code)
  }
}
