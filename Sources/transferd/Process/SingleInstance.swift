import Glibc

/// The lock by which one daemon has a state directory. Held as long as the value lives; the kernel lets go of it with the
/// process, however that ends (flock(2)).
final class SingleInstance: Sendable {
  private let descriptor: Int32

  struct Taken: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: `Taken`, saying who has it.
  init(directory: String) throws {
    let path = directory + "/transferd.lock"
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
    let text = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = text.withCString { pwrite(descriptor, $0, text.utf8.count, 0) }
  }

  deinit { close(descriptor) }

  private static func read(_ descriptor: Int32) -> String? {
    var buffer = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    let digits = String(decoding: buffer[..<count].filter { (48...57).contains($0) }, as: UTF8.self)
    return digits.isEmpty ? nil : digits
  }
}
