import Glibc

/// A short file that is read as a whole; `-` is standard input.
enum InputFile {
  /// - Parameter limit: the most bytes that the file may have.
  /// - Throws: `CommandFailure` that names the file.
  static func read(_ path: String, limit: Int = .max) throws(CommandFailure) -> [UInt8] {
    let name = path == "-" ? "standard input" : path
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(name, errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    return try bytes(of: descriptor, name, limit: limit)
  }

  /// Reads an opened file to its end.
  /// - Throws: `CommandFailure` that names the file.
  static func bytes(of descriptor: Int32, _ name: String, limit: Int = .max) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count > 0 {
        bytes.append(contentsOf: chunk[..<count])
        guard bytes.count <= limit else {
          throw CommandFailure(.usage, "cannot read \(name): it is larger than \(limit) bytes")
        }
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        throw failure(name, errno)
      }
    }
  }

  /// A file or descriptor of the command line that cannot be opened or read.
  static func failure(_ name: String, _ code: Int32) -> CommandFailure {
    let status: ExitStatus =
      switch code {
      case EACCES, EPERM: .permission
      case ENOENT, EISDIR, ENOTDIR, ENAMETOOLONG, ELOOP, EBADF: .usage
      default: .failed
      }
    return CommandFailure(status, "cannot read \(name): \(String(cString: strerror(code)))")
  }
}
