import Glibc
import Synchronization

/// A write to standard output failed: it is closed, its disk is full, or its reader went away.
struct OutputError: Error, CustomStringConvertible {
  let code: Int32
  var description: String { "cannot write to standard output: \(String(cString: strerror(code)))" }
}

/// Standard output: buffered, and unlike `print` it notices when nothing arrives.
final class Output: Sendable {
  static let standard = Output(descriptor: STDOUT_FILENO)

  private let descriptor: Int32
  private let buffer = Mutex<[UInt8]>([])

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// To be asked before something is done whose result could not be told.
  func requireOpen() throws(OutputError) {
    let mode = fcntl(descriptor, F_GETFL)
    guard mode >= 0, mode & O_ACCMODE != O_RDONLY else { throw OutputError(code: EBADF) }
  }

  /// Written out when much has gathered; call `flush()` where somebody waits for it.
  func write(_ text: String) throws(OutputError) {
    let length = buffer.withLock { buffer in
      buffer.append(contentsOf: text.utf8)
      return buffer.count
    }
    if length > 1 << 16 { try flush() }
  }

  func line(_ text: String) throws(OutputError) { try write(text + "\n") }

  func flush() throws(OutputError) {
    let pending = buffer.withLock { buffer in
      defer { buffer.removeAll(keepingCapacity: true) }
      return buffer
    }
    if let code = writeFully(pending, to: descriptor) { throw OutputError(code: code) }
  }
}

/// Standard error: the words for people. Failing to say something is not a failure.
enum Notice {
  /// One line; control characters are made visible.
  static func say(_ text: String) { raw(text.printable + "\n") }

  /// As it is: text that is already safe, with its colours.
  static func raw(_ text: String) { _ = writeFully(Array(text.utf8), to: STDERR_FILENO) }
}

/// - Returns: the `errno` of the write that failed; `nil` when every byte was taken.
private func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
  bytes.withUnsafeBytes { bytes in
    var sent = 0
    while sent < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)  // checked: sent ≤ bytes.count
      if count >= 0 {
        sent += count  // checked: at most bytes.count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&descriptors, 1, -1)
      default: return errno
      }
    }
    return nil
  }
}

enum StandardStreams {
  /// A closed descriptor 0, 1 or 2 would be handed to the next socket, and our text written into it. Put
  /// something harmless there; a closed standard output stays unwritable, so that it is noticed.
  static func prepare() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ]
    where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", mode)
    }
    signal(SIGPIPE, SIG_IGN)
  }
}
