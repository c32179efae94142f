import TransferAPI
import WireValues

/// Checks arguments before anything is sent. The daemon repeats all checks.
enum Syntax {
  /// Checks a URL before it is sent.
  /// - Parameter schemes: those that the command supports.
  static func check(url: String, schemes: [String] = URLText.downloadSchemes) throws(WireError) {
    let scheme: String
    do throws(URLText.Problem) {
      scheme = try URLText(url).scheme
    } catch {
      guard error == .hasNoScheme else { throw WireError("the URL \(error): \(shown(url))") }
      throw WireError("not a URL: \(shown(url)); it must begin with \(list(schemes.map { $0 + "://" }))")
    }
    guard schemes.contains(scheme) else {
      throw WireError("unsupported scheme in \(shown(url)); use \(list(schemes))")
    }
  }

  private static func list(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])"
  }

  /// Parses `Name: value` as curl does.
  /// - Parameter orFile: whether `@FILE` may take its place, for the message.
  /// - Throws: `WireError` that does not repeat the text, which may be a secret.
  static func header(_ text: String, orFile: Bool = false) throws(WireError) -> (name: String, value: String) {
    guard let colon = text.firstIndex(of: ":") else {
      throw WireError("a header must have the form \"Name: value\"" + (orFile ? ", or be @FILE" : ""))
    }
    let name = String(text[..<colon])
    let value = String(text[text.index(after: colon)...].trimmingBlanks())
    try HeaderRules.check(name: name, value: value)
    return (name, value)
  }

  /// Checks the name of a file, or a path without `..`.
  /// - Parameter option: what names the file, for messages.
  static func check(outputName name: String, of option: String = "-o") throws(WireError) {
    guard !name.isEmpty else { throw WireError("\(option) is empty") }
    guard !name.utf8.contains(0) else { throw WireError("\(option) has a NUL byte") }
    guard name != "-" else { throw WireError("\(option) names a file; standard output is not one") }
    let components = name.componentsOfPath
    guard !name.baseName.isEmpty, name.baseName != "." else {
      throw WireError("\(option) names a directory (\(name))" + (option == "-o" ? "; use -d for that" : ""))
    }
    guard !components.contains("..") else { throw WireError("\(option) must not contain \"..\": \(name)") }
    guard components.allSatisfy({ $0.utf8.count <= 255 }) else {
      throw WireError("\(option) has a name longer than 255 bytes")
    }
  }

  /// The URL without its secrets, at most 200 characters.
  static func shown(_ url: String) -> String {
    let text = Secrets.redacting(url: url)
    return text.count > 200 ? text.prefix(200) + "…" : text
  }
}
