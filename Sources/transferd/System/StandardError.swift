import Glibc
import Logging
import Synchronization

/// Unbuffered standard error, so that no output is lost when the process ends.
enum StandardError {
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      LogFile.current.withLock { $0 }?.willWrite(bytes.count)
      var bytes = UnsafeRawBufferPointer(bytes)
      while !bytes.isEmpty {
        let count = Glibc.write(2, bytes.baseAddress, bytes.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        bytes = .init(rebasing: bytes[count...])
      }
    }
  }
}
