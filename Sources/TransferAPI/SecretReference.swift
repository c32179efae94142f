import WireValues

/// Where a secret is looked up. A job stores this reference instead of the secret; each attempt resolves it again.
public enum SecretReference: Hashable, Sendable, CustomStringConvertible {
  /// The user's `~/.netrc`, by the URL's host; for credentials only.
  case netrc
  /// A variable of the daemon's environment.
  case environment(String)
  /// A file's content, without the newline at its end; an absolute path.
  case file(String)
  /// What a command prints, without the newline at its end. The command is split into words; no shell interprets it.
  case command(String)

  /// `netrc`, `env:NAME`, `file:PATH` or `exec:COMMAND`.
  /// - Throws: `WireError` that does not repeat the text, which may be a secret typed by mistake.
  public init(parsing text: String) throws(WireError) {
    func rest(_ prefix: String) -> String? { text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil }
    if text == "netrc" {
      self = .netrc
    } else if let name = rest("env:") {
      guard !name.isEmpty, !name.contains("="), !name.utf8.contains(0) else {
        throw WireError("env: is followed by a variable's name")
      }
      self = .environment(name)
    } else if let path = rest("file:") {
      guard path.isAbsolutePath, !path.utf8.contains(0) else {
        throw WireError("file: is followed by an absolute path")
      }
      self = .file(path)
    } else if let command = rest("exec:") {
      let words: [String]
      do throws(ShellWords.Problem) {
        words = try ShellWords.split(command)
      } catch {
        throw WireError(error.description)
      }
      guard !words.isEmpty else { throw WireError("exec: is followed by a command") }
      self = .command(command)
    } else {
      throw WireError("a secret reference must be netrc, env:NAME, file:PATH or exec:COMMAND")
    }
  }

  public var description: String {
    switch self {
    case .netrc: "netrc"
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    case .command(let command): "exec:\(command)"
    }
  }
}

extension SecretReference: Codable, TextCodable {}
