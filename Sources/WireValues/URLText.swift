/// The parts of an absolute URL that people and programs write: `scheme://[user[:password]@]host[:port]…` (RFC 3986 §3).
///
/// The only check of a URL's syntax: both the program that sends a URL and the program that uses it apply this check.
/// libcurl, which opens the connection, reads the URL after this check; what two parsers could read differently is
/// refused here.
public struct URLText: Equatable, Sendable {
  /// What is wrong with a URL. The description completes "the URL …".
  public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
    case isEmpty
    case hasSpace
    /// The character as it may be shown.
    case hasControlCharacter(String)
    case hasNoScheme
    case hasBackslash
    case hasSeveralAts
    case hasOpenBracket
    case hasTextAfterBracket
    case hasNoHost
    case hasBadPort

    public var description: String {
      switch self {
      case .isEmpty: "is empty"
      case .hasSpace: "has a space; write it as %20"
      case .hasControlCharacter(let character): "has a control character (\(character))"
      case .hasNoScheme: "has no scheme; it must begin like https://"
      case .hasBackslash: "has a backslash after its host"
      case .hasSeveralAts: "has more than one @ before its path; write an @ in the password as %40"
      case .hasOpenBracket: "has an IPv6 address without closing bracket"
      case .hasTextAfterBracket: "has text after its IPv6 address"
      case .hasNoHost: "names no host"
      case .hasBadPort: "has a port that is not a number from 1 to 65535"
      }
    }
  }

  /// Schemes of downloads.
  public static let downloadSchemes = ["http", "https", "s3", "ftp", "ftpes", "ftps", "sftp", "scp"]
  /// Schemes of upload targets.
  public static let uploadSchemes = ["http", "https", "s3", "ftp", "ftpes", "ftps", "sftp", "scp"]

  /// In lower case.
  public let scheme: String
  /// As it is written; an IPv6 address with its brackets. Empty only with the scheme `file`.
  public let host: Substring
  /// 1 to 65535; `nil` if the URL names none.
  public let port: Int?

  public init(_ text: String) throws(Problem) {
    guard !text.isEmpty else { throw .isEmpty }
    for scalar in text.unicodeScalars {
      if scalar == " " { throw .hasSpace }
      if scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) {
        throw .hasControlCharacter("U+" + String(scalar.value, radix: 16, uppercase: true))
      }
    }
    guard let separator = text.firstRange(ofASCII: "://"), text[..<separator.lowerBound].isURLScheme else {
      throw .hasNoScheme
    }
    scheme = text[..<separator.lowerBound].lowercased()
    let rest = text[separator.upperBound...]
    let authority = rest.prefix(upToASCII: "/?#\\")
    if rest[authority.endIndex...].utf8.first == UInt8(ascii: "\\") { throw .hasBackslash }
    (host, port) = try Self.hostAndPort(of: authority)
    guard !host.isEmpty || scheme == "file" else { throw .hasNoHost }
  }

  private static func hostAndPort(of authority: Substring) throws(Problem) -> (Substring, Int?) {
    var host = authority
    if let at = host.lastIndex(ofASCII: "@") {
      guard host.firstIndex(ofASCII: "@") == at else { throw .hasSeveralAts }
      host = host.suffix(after: at)
    }
    if host.utf8.first == UInt8(ascii: "[") {
      guard let close = host.firstIndex(ofASCII: "]") else { throw .hasOpenBracket }
      let after = host.suffix(after: close)
      guard after.isEmpty || after.utf8.first == UInt8(ascii: ":") else { throw .hasTextAfterBracket }
      let address = host[...close]
      guard address.utf8.count > 2 else { throw .hasNoHost }
      return (address, try port(after.dropFirst()))
    }
    guard let colon = host.firstIndex(ofASCII: ":") else { return (host, nil) }
    return (host[..<colon], try port(host.suffix(after: colon)))
  }

  /// A colon without a number means the scheme's port (RFC 3986 §3.2.3).
  private static func port(_ digits: Substring) throws(Problem) -> Int? {
    guard !digits.isEmpty else { return nil }
    guard digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int(digits), (1...65535).contains(number) else {
      throw .hasBadPort
    }
    return number
  }
}

extension Substring {
  /// Whether the text has the form of a scheme (RFC 3986 §3.1).
  var isURLScheme: Bool {
    guard utf8.first?.isASCIILetter ?? false else { return false }
    return utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }
}
