import FoundationEssentials
import Glibc
import Synchronization

/// Stores the body of a request while it is built: in memory, and above a limit in an unlinked temporary file.
final class BodySpool: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    /// `-1`: everything is in memory.
    var file: Int32 = -1
    /// Bytes in the file.
    var written: Int64 = 0
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: the bytes that are kept in memory.
  init(limit: Int = 1 << 20) { self.limit = limit }

  deinit { state.withLock { if $0.file >= 0 { close($0.file) } } }

  /// - Throws: `CommandFailure` if there is no room for a temporary file.
  func append(_ bytes: some Collection<UInt8>) throws {
    try state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      guard state.bytes.count > limit else { return }
      if state.file < 0 { state.file = try TemporaryFile.open() }
      if let code = writeFully(state.bytes, to: state.file) {
        throw CommandFailure(
          .failed, "cannot write a temporary file: \(String(cString: strerror(code))); set TMPDIR")
      }
      state.written += Int64(state.bytes.count)  // checked: the length of a file
      state.bytes.removeAll(keepingCapacity: true)
    }
  }

  /// All bytes.
  var data: Data {
    get throws {
      var all = Data()
      let next = pieces()
      while let piece = try next() { all.append(piece) }
      return all
    }
  }

  /// Reads the bytes from the beginning, piece by piece; `nil` at the end. Nothing may be appended meanwhile.
  func pieces(of pieceBytes: Int = 1 << 16) -> @Sendable () throws -> Data? {
    let position = Mutex<Int64>(0)
    return { [self] in
      try position.withLock { position in
        let piece = try piece(at: position, pieceBytes)
        position += Int64(piece?.count ?? 0)  // checked: at most the number of bytes
        return piece
      }
    }
  }

  private func piece(at position: Int64, _ pieceBytes: Int) throws -> Data? {
    try state.withLock { state throws -> Data? in
      guard position < state.written else {
        // checked: at least `written`, and at most the number of bytes
        let rest = state.bytes[min(state.bytes.count, Int(position - state.written))...]
        return rest.isEmpty ? nil : Data(rest.prefix(pieceBytes))
      }
      var buffer = [UInt8](repeating: 0, count: pieceBytes)
      while true {
        let left = min(Int64(pieceBytes), state.written - position)  // checked: position is below written
        let count = pread(state.file, &buffer, Int(left), off_t(position))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          throw CommandFailure(.failed, "cannot read a temporary file: \(String(cString: strerror(errno)))")
        }
        return Data(buffer[..<count])
      }
    }
  }
}
