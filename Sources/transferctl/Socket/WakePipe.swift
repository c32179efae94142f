import Glibc

/// A pipe that wakes a thread in poll(2). It is opened when it is needed.
struct WakePipe {
  /// Readable after a byte was written to `input`; -1 before `open()`.
  private(set) var output: Int32 = -1
  private(set) var input: Int32 = -1

  /// - Throws: `ControlError.unreachable` if no descriptors are left.
  mutating func open() throws(ControlError) {
    guard output < 0 else { return }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SocketExchange.failure(errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (output, input) = (ends[0], ends[1])
  }

  /// Takes the bytes that were written.
  func drain() {
    guard output >= 0 else { return }
    var buffer: [UInt8] = [0, 0, 0, 0]
    while read(output, &buffer, buffer.count) > 0 {}
  }

  mutating func close() {
    guard output >= 0 else { return }
    _ = Glibc.close(output)
    _ = Glibc.close(input)
    (output, input) = (-1, -1)
  }
}
