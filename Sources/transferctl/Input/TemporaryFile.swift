import FoundationEssentials
import Glibc

/// An unlinked file in the directory for temporary files, readable by its user only. It is gone when it is closed.
enum TemporaryFile {
  /// - Returns: a descriptor for reading and writing.
  static func open() throws(CommandFailure) -> Int32 {
    let directory = directory(ProcessInfo.processInfo.environment)
    var path = Array("\(directory)/transferctl-XXXXXX".utf8CString)
    // Mode 0600: the input may contain secrets (mkstemp(3)).
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .failed, "cannot make a temporary file in \(directory): \(String(cString: strerror(errno))); set TMPDIR")
    }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  /// The directory for temporary files.
  static func directory(_ environment: [String: String]) -> String {
    environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }
}
