import FoundationEssentials
import Glibc

/// A new private directory in the directory for temporary files.
struct ScratchDirectory: Sendable {
  let path: String

  init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
    let parent = TemporaryFile.directory(environment)
    var template = Array("\(parent)/transferctl-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template), let real = realpath(made, nil) else {
      throw CommandFailure(
        .failed, "cannot make a temporary directory in \(parent): \(String(cString: strerror(errno))); set TMPDIR")
    }
    defer { free(real) }
    path = String(cString: real)
  }

  /// Deletes the directory and its files. The daemon may be about to delete a part file there.
  func remove() {
    for _ in 0..<40 {
      removeFiles()
      if rmdir(path) == 0 || errno == ENOENT { return }
      usleep(50_000)
    }
  }

  private func removeFiles() {
    guard let stream = opendir(path) else { return }
    defer { closedir(stream) }
    let directory = dirfd(stream)
    while let entry = readdir(stream) {
      withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { _ = unlinkat(directory, $0, 0) }
      }
    }
  }
}
