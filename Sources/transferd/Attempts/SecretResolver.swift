import FoundationEssentials
import Glibc
import HTTPTypes
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Resolves the secret references of jobs. Secrets are not cached: every attempt resolves them again.
struct SecretResolver: Sendable {
  var environment: [String: String]
  /// The home directory of the daemon's user.
  var home: String?

  static let maximumBytes = 64 * 1024
  static let commandTimeout = Duration.seconds(30)

  /// A secret could not be resolved. The description names the source and contains no secret.
  struct Unavailable: Error, CustomStringConvertible {
    let description: String
    /// A command or file may provide the secret later. An environment variable cannot change before a restart.
    let isTransient: Bool
  }

  func secret(_ reference: SecretReference) async throws(Unavailable) -> String {
    switch reference {
    case .netrc:
      throw Unavailable(description: "netrc is looked up by host", isTransient: false)
    case .environment(let name):
      guard let value = environment[name], !value.isEmpty else {
        throw Unavailable(
          description: "cannot get the secret env:\(name): the daemon's environment does not have it",
          isTransient: false)
      }
      return try Self.checked(value, reference)
    case .file(let path): return try Self.checked(try contents(of: path), reference)
    case .command(let line): return try Self.checked(try await output(of: line), reference)
    }
  }

  /// The user name and password for a host.
  func credentials(_ reference: SecretReference, for host: String) async throws(Unavailable) -> Credentials {
    guard reference == .netrc else {
      let text = try await secret(reference)
      guard let colon = text.firstIndex(of: ":") else {
        throw Unavailable(description: "\(reference) does not give NAME:PASSWORD", isTransient: false)
      }
      return Credentials(username: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }
    let path = environment["NETRC"] ?? (environment["HOME"] ?? home).map { $0 + "/.netrc" }
    guard let path else { throw Unavailable(description: "cannot find .netrc: HOME is not set", isTransient: false) }
    guard let credentials = NetrcFile(parsing: try contents(of: path)).credentials(forHost: host) else {
      throw Unavailable(
        description: "\(path) has no entry with a login for \(host); add: machine \(host) login NAME password WORD",
        isTransient: false)
    }
    return credentials
  }

  private func contents(of path: String) throws(Unavailable) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Self.unreadable(path, "it is not a regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= Self.maximumBytes {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    guard bytes.count <= Self.maximumBytes, let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.unreadable(path, "it is too large or is not UTF-8 text")
    }
    return text
  }

  private func output(of line: String) async throws(Unavailable) -> String {
    guard let words = try? ShellWords.split(line), let program = words.first else {
      throw Unavailable(description: "exec: has no command", isTransient: false)
    }
    let (end, text) = await Command(arguments: words).output(limit: Self.maximumBytes, timeout: Self.commandTimeout)
    // The message names only the program, because its arguments may be private.
    guard end == .exited(0) else {
      throw Unavailable(description: "cannot get the secret from \(program): \(end)", isTransient: true)
    }
    return text
  }

  /// Whether the reference may give another value while the daemon runs.
  static func mayChange(_ reference: SecretReference) -> Bool {
    if case .environment = reference { false } else { true }
  }

  private static func unreadable(_ path: String, _ reason: String) -> Unavailable {
    Unavailable(description: "cannot get the secret from \(path): \(reason)", isTransient: true)
  }

  /// The text without trailing line ends. It must not contain others, because it may become a header's value.
  private static func checked(_ text: String, _ reference: SecretReference) throws(Unavailable) -> String {
    var text = text[...]
    while let last = text.last, last == "\n" || last == "\r\n" || last == "\r" { text.removeLast() }
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }) else {
      let name = if case .command = reference { "the command" } else { reference.description }
      throw Unavailable(
        description: "\(name) does not give a secret of one line", isTransient: Self.mayChange(reference))
    }
    return String(text)
  }
}
