import FoundationEssentials
import Glibc
import WireValues

/// A `.netrc`: user names and passwords by host (the format of ftp(1), as curl reads it).
///
/// libcurl's own netrc support is not used: it would look up the hosts of redirects.
public struct NetrcFile: Sendable {
  /// The entry of one machine.
  public struct Entry: Hashable, Sendable {
    /// In lower case; `nil` for `default`.
    public var machine: String?
    /// The user name; `nil` if the entry has none.
    public var login: String?
    /// The password; `nil` if the entry has none. No description shows it.
    public var password: String?
  }

  /// In the order of the file.
  public let entries: [Entry]
  /// The problem with the file's permissions; `nil` if there is none.
  public let permissionWarning: String?

  /// Ignores `macdef` blocks, lines that begin with `#`, and unknown words.
  public init(parsing text: String) { self.init(parsing: text, permissionWarning: nil) }

  /// - Throws: `.file` if it cannot be read, is not a regular file, or is larger than 1 MiB.
  public init(path: String) throws(TransferError) {
    let data = try SmallFile.read(path, atMost: 1 << 20)
    self.init(parsing: String(decoding: data, as: UTF8.self), permissionWarning: Self.warning(about: path))
  }

  private init(parsing text: String, permissionWarning: String?) {
    var parser = NetrcParser(text)
    entries = parser.entries()
    self.permissionWarning = entries.contains { $0.password != nil } ? permissionWarning : nil
  }

  /// `~/.netrc`; `nil` if the home directory is unknown.
  public static var defaultPath: String? {
    if let home = getenv("HOME").map({ String(cString: $0) }), home.isAbsolutePath { return home + "/.netrc" }
    guard let entry = getpwuid(geteuid()) else { return nil }
    return String(cString: entry.pointee.pw_dir) + "/.netrc"
  }

  /// The first entry for the host, or else the first `default`.
  /// - Parameters:
  ///   - host: as in a URL; compared without regard to case.
  ///   - login: only entries with this user name.
  /// - Returns: `nil` unless that entry has a user name.
  public func credentials(forHost host: String, login: String? = nil) -> Credentials? {
    let host = host.lowercased()
    let isFitting = { (entry: Entry) in login == nil || entry.login == login }
    guard
      let entry = entries.first(where: { $0.machine == host && isFitting($0) })
        ?? entries.first(where: { $0.machine == nil && isFitting($0) }),
      let user = entry.login
    else { return nil }
    return Credentials(username: user, password: entry.password ?? "")
  }

  private static func warning(about path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    if status.st_mode & 0o077 != 0 { return "\(path) can be read by others; make it your own with chmod 600" }
    if status.st_uid != geteuid(), status.st_uid != 0 { return "\(path) belongs to another user" }
    return nil
  }
}

extension NetrcFile.Entry: CustomStringConvertible {
  /// Without the password.
  public var description: String { "\(machine ?? "default") \(login ?? "-") ***" }
}

/// Reads tokens: words between blanks and line ends, or in quotes, where `\` escapes the next character.
private struct NetrcParser {
  private var rest: Substring.UnicodeScalarView
  private var isAtLineStart = true

  init(_ text: String) { rest = text.unicodeScalars[...] }

  mutating func entries() -> [NetrcFile.Entry] {
    var entries: [NetrcFile.Entry] = []
    while let word = token() {
      switch word {
      case "machine":
        guard let name = token() else { return entries }
        entries.append(.init(machine: name.lowercased()))
      case "default": entries.append(.init())
      case "login":
        guard let value = token() else { return entries }
        if !entries.isEmpty { entries[entries.count - 1].login = value }
      case "password":
        guard let value = token() else { return entries }
        if !entries.isEmpty { entries[entries.count - 1].password = value }
      case "account": _ = token()
      case "macdef": skipMacro()
      default: break
      }
    }
    return entries
  }

  private mutating func token() -> String? {
    skipBlanks()
    guard let first = rest.first else { return nil }
    isAtLineStart = false
    if first == "\"" {
      rest.removeFirst()
      return quoted()
    }
    var word = String.UnicodeScalarView()
    while let scalar = rest.first, !Self.isBlank(scalar) { word.append(rest.removeFirst()) }
    return String(word)
  }

  private mutating func quoted() -> String {
    var word = String.UnicodeScalarView()
    while let scalar = rest.popFirst(), scalar != "\"" {
      guard scalar == "\\", let escaped = rest.popFirst() else {
        word.append(scalar)
        continue
      }
      switch escaped {
      case "n": word.append("\n")
      case "r": word.append("\r")
      case "t": word.append("\t")
      default: word.append(escaped)
      }
    }
    return String(word)
  }

  private mutating func skipBlanks() {
    while let scalar = rest.first {
      if scalar == "\n" {
        isAtLineStart = true
      } else if scalar == "#", isAtLineStart {
        while let next = rest.first, next != "\n" { rest.removeFirst() }
        continue
      } else if !Self.isBlank(scalar) {
        return
      }
      rest.removeFirst()
    }
  }

  /// Skips to the next empty line.
  private mutating func skipMacro() {
    var isEmpty = false
    while let scalar = rest.popFirst() {
      if scalar == "\n" {
        if isEmpty { break }
        isEmpty = true
      } else if scalar != "\r" {
        isEmpty = false
      }
    }
    isAtLineStart = true
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
  }
}
