import Glibc
import Synchronization
import TransferAPI

/// A file or descriptor with headers that must not appear on the command line (`/proc/PID/cmdline`): one per line, as
/// with curl's `--header @FILE`.
enum HeaderSource: Hashable, Sendable {
  /// `-` is standard input.
  case file(String)
  /// A descriptor that the program inherited.
  case descriptor(Int32)

  /// More than the daemon accepts as the headers of one job.
  static let maximumBytes = 2 << 20
  static let maximumHeaders = 100

  /// The headers in the order of their lines. Blank lines are skipped. Descriptors are closed.
  /// - Throws: `CommandFailure` that names the source and the line, but no part of its text.
  func headers() throws -> [(name: String, value: String)] {
    // The options are decoded more than once, but a pipe can be read only once.
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
      // The line may be a secret: do not show it.
      guard text.contains(":") else { throw fault("a header must have the form \"Name: value\"") }
      do {
        headers.append(try Syntax.header(text))
      } catch {
        throw fault(
          HeaderRules.isToken(text.prefix { $0 != ":" }) ? error.description : "it does not begin with a header name")
      }
      guard headers.count <= Self.maximumHeaders else { throw fault("more than \(Self.maximumHeaders) headers") }
    }
    guard !headers.isEmpty else { throw CommandFailure(.usage, "\(name) contains no header") }
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
      // Descriptors of this program are closed at exec; inherited ones are not.
      let flags = fcntl(number, F_GETFD)
      guard flags >= 0, flags & FD_CLOEXEC == 0 else {
        throw CommandFailure(.usage, "cannot read descriptor \(number): it is not open (--header-fd \(number))")
      }
      descriptor = number
    }
    let source = "headers from \(name)"
    guard descriptor >= 0 else { throw InputFile.failure(source, errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    return try InputFile.bytes(of: descriptor, source, limit: Self.maximumBytes)
  }
}
