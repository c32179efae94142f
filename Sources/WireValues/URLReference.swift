/// A URL or a relative reference, split into its components (RFC 3986 appendix B). Every text is one; whether it can be
/// requested is for `URLText` to say.
public struct URLReference: Equatable, Sendable {
  public let scheme: Substring?
  /// `[user[:password]@]host[:port]`
  public let authority: Substring?
  public let path: Substring
  /// Without its question mark.
  public let query: Substring?
  /// Without its number sign.
  public let fragment: Substring?

  public init(_ text: String) {
    var rest = text[...]
    if let end = rest.firstIndex(ofASCII: ":/?#"), rest.utf8[end] == UInt8(ascii: ":"), rest[..<end].isURLScheme {
      scheme = rest[..<end]
      rest = rest.suffix(after: end)
    } else {
      scheme = nil
    }
    if let sign = rest.firstIndex(ofASCII: "#") {
      fragment = rest.suffix(after: sign)
      rest = rest[..<sign]
    } else {
      fragment = nil
    }
    if let mark = rest.firstIndex(ofASCII: "?") {
      query = rest.suffix(after: mark)
      rest = rest[..<mark]
    } else {
      query = nil
    }
    if rest.utf8.starts(with: "//".utf8) {
      rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
      let host = rest.prefix(upToASCII: "/")
      authority = host
      rest = rest[host.endIndex...]
    } else {
      authority = nil
    }
    path = rest
  }

  /// The absolute URL that a reference means at this URL (RFC 3986 §5.2). A reference with a scheme stays as it is written.
  public func resolving(_ text: String) -> String {
    let reference = URLReference(text)
    guard reference.scheme == nil else { return text }
    guard reference.authority == nil else {
      return Self.text(
        scheme, reference.authority, Self.withoutDots(reference.path), reference.query, reference.fragment)
    }
    guard !reference.path.isEmpty else {
      return Self.text(scheme, authority, String(path), reference.query ?? query, reference.fragment)
    }
    return Self.text(
      scheme, authority, Self.withoutDots(merged(reference.path)[...]), reference.query, reference.fragment)
  }

  /// RFC 3986 §5.2.3
  private func merged(_ other: Substring) -> String {
    if other.isAbsolutePath { return String(other) }
    if authority != nil, path.isEmpty { return "/" + other }
    return String(path.beforeBaseName) + other
  }

  /// RFC 3986 §5.3
  private static func text(
    _ scheme: Substring?, _ authority: Substring?, _ path: String, _ query: Substring?, _ fragment: Substring?
  ) -> String {
    var text = ""
    if let scheme { text += "\(scheme):" }
    if let authority { text += "//\(authority)" }
    text += path
    if let query { text += "?\(query)" }
    if let fragment { text += "#\(fragment)" }
    return text
  }

  /// The path without `.` and `..` segments (RFC 3986 §5.2.4).
  static func withoutDots(_ path: Substring) -> String {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return String(path) }
    var segments: [Substring] = []
    let all = path.split(atASCII: "/", keepsEmpty: true)
    for (index, segment) in all.enumerated() {
      let isLast = index == all.count - 1
      switch segment {
      case ".": if isLast { segments.append("") }
      case "..":
        // The empty segment before the first slash of an absolute path stays.
        if let last = segments.last, !(segments.count == 1 && last.isEmpty && path.isAbsolutePath) {
          segments.removeLast()
        }
        if isLast { segments.append("") }
      default: segments.append(segment)
      }
    }
    return segments.joined(separator: "/")
  }
}
