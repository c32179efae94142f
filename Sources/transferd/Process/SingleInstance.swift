import Glibc
import TransferAPI

/// A lock that gives one daemon exclusive use of a state directory. It is held for the life of the object; the kernel releases
/// it when the process ends, even after a crash (flock(2)).
final class SingleInstance: Sendable {
  private let descriptor: Int32

  struct Taken: Error, CustomStringConvertible {
    let description: String
  }

  /// Takes the lock.
  /// - Throws: `Taken` with the other daemon's process id.
  init(directory: String) throws {
    let path = directory + "/" + LockFileText.fileName
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Taken(description: "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.read(descriptor)
      close(descriptor)
      throw Taken(
        description: "cannot use \(directory): another transferd\(holder.map { " (pid \($0))" } ?? "") is using it")
    }
    tell(nil)
  }

  /// Writes what the daemon is doing to the lock file, for programs that wait for its socket.
  func tell(_ status: String?) {
    let text = LockFileText(processID: getpid(), status: status).description
    ftruncate(descriptor, 0)
    _ = text.withCString { pwrite(descriptor, $0, text.utf8.count, 0) }
  }

  deinit { close(descriptor) }

  private static func read(_ descriptor: Int32) -> Int32? {
    var buffer = [UInt8](repeating: 0, count: LockFileText.maximumBytes)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    return LockFileText(String(decoding: buffer[..<count], as: UTF8.self))?.processID
  }
}
