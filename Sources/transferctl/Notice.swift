import Glibc

/// Messages to the user on standard error. A failed write is ignored.
enum Notice {
  /// Writes one line; control characters are escaped.
  static func say(_ text: String) { raw(text.printable + "\n") }

  /// Writes text unchanged; it must already be safe for a terminal.
  static func raw(_ text: String) { _ = writeFully(Array(text.utf8), to: STDERR_FILENO) }
}

/// - Returns: the `errno` of the failed write; `nil` if every byte was written.
func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
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
