import CLinux
import Glibc

/// The file `transferd.crash` in the state directory. A run that crashes writes a mark into it for the next run.
///
/// The file is opened at the start and keeps its space on disk, so the signal handler only writes and syncs 64 bytes, with
/// async-signal-safe calls (signal-safety(7)).
final class CrashMarkFile: Sendable {
  /// The mark of the last run; `nil` if it did not crash.
  let previous: CrashMark?
  private let descriptor: Int32
  private let path: String

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Opens the file and reads the last mark.
  /// - Throws: `Failed` if the file cannot be opened, read or created at its full size.
  init(directory: String) throws {
    path = directory + "/transferd.crash"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure("open", path) }
    var bytes = [UInt8](repeating: 0, count: Int(LINUX_CRASH_MARK_SIZE))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else {
      close(descriptor)
      throw Self.failure("read", path)
    }
    previous = CrashMark(bytes[..<count])
    guard count < bytes.count, previous == nil else { return }
    guard linux_crash_mark_clear(descriptor) == 0 else {
      let failure = Self.failure("write", path)
      close(descriptor)
      throw failure
    }
  }

  /// Installs the signal handlers. The file stays open until the process ends, because the handlers need it.
  func arm() throws {
    let run = String(UInt64.random(in: 0 ... .max), radix: 16)
    let digits = String(repeating: "0", count: Int(LINUX_CRASH_RUN_SIZE) - run.utf8.count) + run
    guard linux_crash_mark_arm(descriptor, digits) == 0 else {
      throw Failed(description: "cannot watch for fatal signals: \(String(cString: strerror(errno)))")
    }
    _ = Unmanaged.passRetained(self)
  }

  /// Removes the last mark. Call it after the crash was counted durably.
  func clear() throws {
    guard previous != nil else { return }
    guard linux_crash_mark_clear(descriptor) == 0 else { throw Self.failure("write", path) }
  }

  deinit { close(descriptor) }

  private static func failure(_ verb: String, _ path: String) -> Failed {
    Failed(description: "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
