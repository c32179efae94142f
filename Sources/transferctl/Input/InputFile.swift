import Glibc

/// The file behind `-i` and `import`; `-` is standard input.
enum InputFile {
  /// Reads the whole file: all of it is checked before anything is added.
  /// - Throws: `CommandFailure` that names the file.
  static func read(_ path: String) throws -> [UInt8] {
    let name = path == "-" ? "standard input" : path
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(name) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count > 0 {
        bytes.append(contentsOf: chunk[..<count])
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        throw failure(name)
      }
    }
  }

  private static func failure(_ name: String) -> CommandFailure {
    let code = errno
    let status: ExitStatus =
      switch code {
      case EACCES, EPERM: .permission
      case ENOENT, EISDIR, ENOTDIR: .usage
      default: .failed
      }
    return CommandFailure(status, "cannot read \(name): \(String(cString: strerror(code)))")
  }
}
