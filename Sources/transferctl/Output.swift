import Glibc
import Synchronization

/// Buffered standard output. Unlike `print`, it reports a failed write.
final class Output: Sendable {
  static let standard = Output(descriptor: STDOUT_FILENO)

  private let descriptor: Int32
  private let buffer = Mutex<[UInt8]>([])

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Checks that results can be printed. Call it before an action whose result must not be lost.
  func requireOpen() throws(OutputError) {
    let mode = fcntl(descriptor, F_GETFL)
    guard mode >= 0, mode & O_ACCMODE != O_RDONLY else { throw OutputError(code: EBADF) }
  }

  /// Writes the buffer out when it holds more than 64 KiB; call `flush()` when a reader waits for the text.
  func write(_ text: String) throws(OutputError) { try write(text.utf8) }

  /// Writes each number in a line of its own.
  func numbers(_ numbers: ClosedRange<Int64>) throws(OutputError) {
    for number in numbers { try write(String(number) + "\n") }
  }

  /// Writes bytes as they are.
  func write(_ bytes: some Collection<UInt8>) throws(OutputError) {
    let length = buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      return buffer.count
    }
    if length > 1 << 16 { try flush() }
  }

  func line(_ text: String) throws(OutputError) { try write(text + "\n") }

  func lines(_ lines: [String]) throws(OutputError) {
    for text in lines { try line(text) }
  }

  func flush() throws(OutputError) {
    let pending = buffer.withLock { buffer in
      defer { buffer.removeAll(keepingCapacity: true) }
      return buffer
    }
    if let code = writeFully(pending, to: descriptor) { throw OutputError(code: code) }
  }
}
