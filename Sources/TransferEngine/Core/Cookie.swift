public import FoundationEssentials
import WireValues

/// A cookie that is sent with requests (RFC 6265). Cookies in responses are not stored.
public struct Cookie: Hashable, Sendable {
  /// A token.
  public var name: String
  /// Without control characters and semicolons.
  public var value: String
  /// In lower case, without a dot at its start.
  public var domain: String
  /// Whether hosts below `domain` get the cookie, too.
  public var includesSubdomains: Bool
  /// Requests for this path and those below it get the cookie.
  public var path: String
  /// Sent over TLS only.
  public var isSecure: Bool
  /// `nil`: at the end of the session, so it is valid here.
  public var expires: Date?

  /// A cookie for a host and, unless `includesSubdomains` is false, the hosts below it.
  public init(
    name: String, value: String, domain: String, includesSubdomains: Bool = true, path: String = "/",
    isSecure: Bool = false, expires: Date? = nil
  ) {
    self.name = name
    self.value = value
    self.domain = domain
    self.includesSubdomains = includesSubdomains
    self.path = path
    self.isSecure = isSecure
    self.expires = expires
  }

  /// Cookies that one request may have, and the bytes of their field: libcurl's own limits (`MAX_COOKIE_SEND_AMOUNT`,
  /// `MAX_COOKIE_HEADER_LEN`).
  static let maximumCount = 150
  static let maximumFieldBytes = 8190

  /// The value of the field `Cookie` of a request (RFC 6265 §5.4); `nil` if no cookie is for it.
  static func field(_ cookies: [Cookie], for url: RequestURL, now: Date = Date()) -> String? {
    guard !cookies.isEmpty else { return nil }
    // Longer paths first; otherwise in the given order.
    let matching = cookies.enumerated().filter { $0.element.applies(to: url, now: now) }
      .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
    var field = ""
    for (_, cookie) in matching.prefix(maximumCount) {
      let pair = "\(field.isEmpty ? "" : "; ")\(cookie.name)=\(cookie.value)"
      guard field.utf8.count + pair.utf8.count <= maximumFieldBytes else { break }
      field += pair
    }
    return field.isEmpty ? nil : field
  }

  func applies(to url: RequestURL, now: Date) -> Bool {
    if let expires, expires <= now { return false }
    if isSecure, url.scheme != "https" { return false }
    return matches(host: url.host.lowercased()) && matches(path: url.path)
  }

  /// RFC 6265 §5.1.3. An address has no subdomains.
  private func matches(host: String) -> Bool {
    if host == domain { return true }
    return includesSubdomains && host.hasSuffix(".\(domain)") && IPAddress(host) == nil
  }

  /// RFC 6265 §5.1.4.
  private func matches(path requested: String) -> Bool {
    guard requested != path else { return true }
    return requested.hasPrefix(path) && (path.hasSuffix("/") || requested.dropFirst(path.count).first == "/")
  }
}

extension Cookie: CustomStringConvertible {
  /// Without the value.
  public var description: String { "Cookie(\(name); \(domain)\(path))" }
}

extension Cookie: CustomReflectable {
  /// Keeps the value out of `dump` and of the output of test libraries.
  public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain]) }
}

extension Cookie {
  /// The largest cookie file that is read.
  public static let maximumFileBytes = 1 << 20

  /// Reads a file in the format of Netscape, curl and wget: a line for each cookie, with the domain, whether it includes
  /// subdomains (`TRUE` or `FALSE`), the path, whether it needs TLS, the expiry in seconds since 1970 (0: none), the name and
  /// the value, separated by tabs. Lines that begin with `#` are comments, except those with `#HttpOnly_`.
  /// - Throws: `InvalidFile` for the first line that is none of these.
  public static func cookies(inNetscape text: String) throws(InvalidFile) -> [Cookie] {
    var cookies: [Cookie] = []
    // By bytes: CR LF is one Character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, bytes) in lines.enumerated() {
      var line = Substring(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
      let mark = "#HttpOnly_"
      if line.hasPrefix(mark) {
        line = line.dropFirst(mark.count)
      } else if line.hasPrefix("#") || line.allSatisfy({ $0 == " " || $0 == "\t" }) {
        continue
      }
      guard let cookie = Cookie(netscapeFields: line.split(separator: "\t", omittingEmptySubsequences: false)) else {
        throw InvalidFile(line: index + 1)  // checked: an index of the text
      }
      cookies.append(cookie)
    }
    return cookies
  }

  /// A text that is not a cookie file.
  public struct InvalidFile: Error, Equatable, CustomStringConvertible {
    /// The first wrong line; the first of the file is 1.
    public let line: Int

    /// Without the text of the line, which may be a secret.
    public var description: String {
      "line \(line) is not a cookie in the format of Netscape: seven fields, separated by tabs"
    }
  }

  private init?(netscapeFields fields: [Substring]) {
    // Browsers leave out an empty value with its tab.
    guard fields.count == 7 || fields.count == 6 else { return nil }
    let domain = fields[0].hasPrefix(".") ? fields[0].dropFirst() : fields[0]
    guard !domain.isEmpty, let includesSubdomains = Self.flag(fields[1]), let isSecure = Self.flag(fields[3]),
      fields[2].hasPrefix("/"), let seconds = Int64(fields[4]), seconds >= 0, Self.isName(fields[5])
    else { return nil }
    let value = fields.count == 7 ? fields[6] : ""
    guard Self.isValue(value) else { return nil }
    self.init(
      name: String(fields[5]), value: String(value), domain: domain.lowercased(),
      includesSubdomains: includesSubdomains, path: String(fields[2]), isSecure: isSecure,
      expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)))
  }

  private static func flag(_ text: Substring) -> Bool? {
    switch text.uppercased() {
    case "TRUE": true
    case "FALSE": false
    default: nil
    }
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
  }

  /// As browsers store them: what would end the value or the field is not allowed.
  private static func isValue(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
  }
}
