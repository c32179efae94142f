import Glibc
import Synchronization
import TransferAPI

/// Where headers stand that must not be seen on the command line (`/proc/PID/cmdline`): one in each line, as curl's
/// `--header @FILE` has it.
enum HeaderSource: Hashable, Sendable {
  /// `-` is standard input.
  case file(String)
  /// One that was open when the program began.
  case descriptor(Int32)

  /// More than the daemon takes of one job's headers.
  static let maximumBytes = 2 << 20
  static let maximumHeaders = 100

  /// Headers in the order of their lines; blank lines are passed over. Descriptors are closed.
  /// - Throws: `CommandFailure` that names the place and the line, and nothing that stands in it.
  func headers() throws -> [(name: String, value: String)] {
    // The options are looked at more than once, and a pipe can be read once.
    let known = Self.contents.withLock { $0[self] }
    let bytes: [UInt8]
    if let known {
      bytes = known
    } else {
      bytes = try read()
      Self.contents.withLock { $0[self] = bytes }
    }
    return try parse(bytes)
  }

  var isStandardInput: Bool { self == .file("-") || self == .descriptor(STDIN_FILENO) }

  private static let contents = Mutex<[HeaderSource: [UInt8]]>([:])

  private func parse(_ bytes: [UInt8]) throws -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      let bytes = line.last == 13 ? line.dropLast() : line
      guard bytes.contains(where: { $0 != 32 && $0 != 9 }) else { continue }
      func fault(_ reason: String) -> CommandFailure { CommandFailure(.usage, "\(name), line \(index + 1): \(reason)") }
      guard let text = String(validating: bytes, as: UTF8.self) else { throw fault("it is not UTF-8") }
      // The line may be a secret: it is not repeated.
      guard text.contains(":") else { throw fault("a header is written \"Name: value\"") }
      do {
        headers.append(try Syntax.header(text))
      } catch {
        throw fault(
          Syntax.isHeaderName(text.prefix { $0 != ":" }) ? error.description : "it does not begin with a header's name")
      }
      guard headers.count <= Self.maximumHeaders else { throw fault("more than \(Self.maximumHeaders) headers") }
    }
    guard !headers.isEmpty else { throw CommandFailure(.usage, "\(name) holds no header") }
    return headers
  }

  private var name: String {
    switch self {
    case .file("-"): "standard input"
    case .file(let path): path
    case .descriptor(let number): "descriptor \(number)"
    }
  }

  private func read() throws -> [UInt8] {
    let descriptor: Int32
    switch self {
    case .file("-"): descriptor = STDIN_FILENO
    case .file(let path): descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    case .descriptor(let number):
      // What this program has opened itself is closed at exec; what it inherited cannot be.
      let flags = fcntl(number, F_GETFD)
      guard flags >= 0, flags & FD_CLOEXEC == 0 else {
        throw CommandFailure(.usage, "cannot read descriptor \(number): it is not open (--header-fd \(number))")
      }
      descriptor = number
    }
    guard descriptor >= 0 else { throw failure(errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(errno) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]  // checked: joins arrays
      guard bytes.count <= Self.maximumBytes else {
        throw CommandFailure(.usage, "\(name) is too large for headers: more than \(Self.maximumBytes >> 20) MiB")
      }
    }
  }

  private func failure(_ code: Int32) -> CommandFailure {
    let status: ExitStatus =
      switch code {
      case EACCES, EPERM: .permission
      case ENOENT, EISDIR, ENOTDIR, EBADF: .usage
      default: .failed
      }
    return CommandFailure(status, "cannot read headers from \(name): \(String(cString: strerror(code)))")
  }
}
