import WireValues

/// A file name that is safe to use: one path component without control characters, without a leading dot or dash, of at
/// most 255 bytes. Suggestions from servers and URLs are made safe; names from people are only checked.
public struct SafeFileName: Equatable, Sendable {
  /// The name: without slashes and control characters, neither `.` nor `..`, and short enough for a part file's ending.
  public let string: String

  /// Linux's NAME_MAX.
  public static let maximumBytes = SafeName.maximumBytes

  /// The last segment of a URL's path. It is decoded before it is split, so that `%2F` and `%2e%2e` have no effect.
  /// `nil` if nothing usable is left.
  public init?(urlPath: String) {
    guard let name = SafeName.made(ofURLPath: urlPath) else { return nil }
    string = name
  }

  /// Longer values are ignored: a name has at most 255 bytes, or 765 if each is escaped.
  private static let maximumFieldBytes = 8192

  /// Reads `filename*` (RFC 8187), or else `filename` (RFC 6266).
  public init?(contentDisposition value: String) {
    guard value.utf8.count <= Self.maximumFieldBytes else { return nil }
    let parameters = Self.parameters(value)
    if let extended = parameters["filename*"] {
      let parts = extended.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
      if parts.count == 3, ["utf-8", "iso-8859-1", "us-ascii"].contains(parts[0].lowercased()),
        let decoded = parts[2].percentDecoded, let name = SafeFileName(suggested: decoded)
      {
        self = name
        return
      }
    }
    guard let plain = parameters["filename"] else { return nil }
    self.init(suggested: plain.percentDecoded ?? plain)
  }

  /// Makes a suggestion safe; `nil` if nothing of it is left.
  public init?(suggested: String) {
    guard let name = SafeName.made(of: suggested) else { return nil }
    string = name
  }

  /// Checks a name from a person.
  /// - Throws: `.invalidName` with the reason.
  public static func check(_ name: String) throws(TransferError) {
    let shown = String(name.unicodeScalars.map { $0.value > 0x1F && $0.value != 0x7F ? Character($0) : "?" }.prefix(80))
    guard !name.isEmpty else { throw .file(.invalidName("", reason: "it is empty")) }
    guard name != ".", name != ".." else { throw .file(.invalidName(shown, reason: "it names a directory")) }
    guard !name.utf8.contains(0) else { throw .file(.invalidName(shown, reason: "it contains a NUL character")) }
    // Compares bytes: a slash with a combining mark is another `Character`, but still a slash.
    guard !name.utf8.contains(UInt8(ascii: "/")) else {
      throw .file(.invalidName(shown, reason: "it contains a slash"))
    }
    guard name.utf8.count <= maximumBytes else {
      throw .file(.invalidName(shown, reason: "it is longer than \(maximumBytes) bytes"))
    }
  }

  /// A hidden name for the part file of `name`: `.name.TOKEN.part`, shortened to a valid length.
  public static func partial(for name: String, token: String) -> String {
    // ".new" is appended while the file is created.
    "." + SafeName.shortened(name, to: maximumBytes - token.utf8.count - 12) + "." + token + ".part"
  }

  /// `attachment; filename="a \"b\".txt"; filename*=…` → the parameters, names in lower case.
  private static func parameters(_ value: String) -> [String: String] {
    var result: [String: String] = [:]
    var rest = value[...]
    if let semicolon = rest.firstIndex(of: ";") { rest = rest[rest.index(after: semicolon)...] } else { return [:] }
    while !rest.isEmpty {
      rest = rest.drop { $0 == " " || $0 == ";" || $0 == "\t" }
      guard let equals = rest.firstIndex(of: "=") else { break }
      let name = rest[..<equals].filter { $0 != " " }.lowercased()
      rest = rest[rest.index(after: equals)...].drop { $0 == " " }
      var text = ""
      if rest.first == "\"" {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
          if character == "\\", let next = rest.popFirst() { text.append(next) } else { text.append(character) }
        }
      } else {
        let end = rest.firstIndex(of: ";") ?? rest.endIndex
        text = String(rest[..<end])
        while text.last == " " { text.removeLast() }
        rest = rest[end...]
      }
      if result[name] == nil { result[name] = text }
    }
    return result
  }
}
