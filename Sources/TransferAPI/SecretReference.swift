/// Where a secret is to be found when it is needed: what jobs store in its place. Resolved anew at each attempt.
public enum SecretReference: Hashable, Sendable, CustomStringConvertible {
  /// The user's `~/.netrc`, by the URL's host; for credentials only.
  case netrc
  /// A variable of the daemon's environment.
  case environment(String)
  /// A file's content, without the newline at its end; an absolute path.
  case file(String)
  /// What a command prints, without the newline at its end. Words, not a shell's language.
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
      guard path.hasPrefix("/"), !path.utf8.contains(0) else {
        throw WireError("file: is followed by an absolute path")
      }
      self = .file(path)
    } else if let command = rest("exec:") {
      guard try !ShellWords.split(command).isEmpty else { throw WireError("exec: is followed by a command") }
      self = .command(command)
    } else {
      throw WireError("a secret is named by netrc, env:NAME, file:PATH or exec:COMMAND")
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

  /// Whether it makes the daemon read or run something of its own, which only its own user may ask for.
  public var needsOwner: Bool {
    switch self {
    case .netrc: false
    case .environment, .file, .command: true
    }
  }
}

/// A header whose value, or the last word of it, is a secret found elsewhere: `Bearer env:TOKEN`, `file:/run/key`.
public struct SecretHeader: Hashable, Sendable, CustomStringConvertible {
  /// What stands before the secret, like `Bearer`; may be empty.
  public var scheme: String
  public var reference: SecretReference

  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    let prefixes = ["env:", "file:", "exec:"]
    if !prefixes.contains(where: text.hasPrefix), let blank = text.firstIndex(of: " ") {
      scheme = String(text[..<blank])
      reference = try SecretReference(parsing: String(text[blank...].drop { $0 == " " }))
    } else {
      scheme = ""
      reference = try SecretReference(parsing: text)
    }
    if reference == .netrc { throw WireError("netrc holds user names and passwords, not headers") }
    guard scheme.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
      throw WireError("the word before a secret has a character that is not allowed")
    }
  }

  public var description: String { scheme.isEmpty ? reference.description : "\(scheme) \(reference)" }

  /// The header's value.
  public func value(_ secret: String) -> String { scheme.isEmpty ? secret : "\(scheme) \(secret)" }
}

extension SecretReference: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension SecretHeader: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// Words of a command line: blanks part them, quotes and backslashes keep blanks. Nothing is expanded.
public enum ShellWords {
  /// - Throws: `WireError` for a quote without its end.
  public static func split(_ text: String) throws(WireError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'"?, "'"), ("\""?, "\""): quote = nil
      case (nil, "'"), (nil, "\""):
        quote = character
        word = word ?? ""
      case (nil, "\\"), ("\""?, "\\"):
        guard let next = rest.popFirst() else { throw WireError("the command ends with a backslash") }
        word = word ?? ""
        word?.append(next)  // in place: a word may be as long as the request
      case (nil, " "), (nil, "\t"), (nil, "\n"):
        if let complete = word { words.append(complete) }
        word = nil
      default:
        word = word ?? ""
        word?.append(character)
      }
    }
    guard quote == nil else { throw WireError("the command has a quote without its end") }
    if let word { words.append(word) }
    return words
  }
}
