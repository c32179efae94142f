import CLinux
import FoundationEssentials
import Glibc
import WireValues

/// A nameless file that stores a stream so that it can be sent again. It is deleted with the last reference.
final class SpooledFile: Sendable {
  private let descriptor: Int32
  /// A path that opens the same file, without a name in any directory (proc(5)).
  var path: String { "/proc/self/fd/\(descriptor)" }

  /// - Throws: `.file` if no file can be created in the directory.
  init(in directory: String) throws(TransferError) {
    // O_TMPFILE, which Glibc's module does not export: __O_TMPFILE | O_DIRECTORY (fcntl.h, the same on all Linux
    // systems).
    var descriptor = linux_openat(AT_FDCWD, directory, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL {
      descriptor = Self.openNamed(in: directory)
    }
    guard descriptor >= 0 else { throw .file(.system("cannot create a file in \(directory)", errno: errno)) }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// For file systems without O_TMPFILE: the name is removed at once.
  private static func openNamed(in directory: String) -> Int32 {
    let path = directory + "/.transfer-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    let descriptor = linux_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor >= 0 { unlink(path) }
    return descriptor
  }

  /// Appends all bytes. Blocks.
  func append(_ data: Data) throws(TransferError) {
    let code = data.withUnsafeBytes { bytes -> Int32 in
      var done = 0
      while done < bytes.count {
        let count = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return errno }
        done += count
      }
      return 0
    }
    guard code == 0 else { throw .file(.system("cannot store the stream that is sent", errno: code)) }
  }

  /// The directory for large temporary files: TMPDIR, or else /var/tmp, which unlike /tmp is not in memory
  /// (file-hierarchy(7)).
  static var directory: String {
    if let path = getenv("TMPDIR").map({ String(cString: $0) }), path.isAbsolutePath { return path }
    return "/var/tmp"
  }
}
