import CCurl
import WireValues

/// A URL as libcurl reads it. The parser that opens the connection also determines host and port, so that no check can
/// be misled by another reading (`libcurl-url(3)`).
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
  /// Without userinfo and fragment.
  public let string: String
  /// In lower case.
  public let scheme: String
  /// In lower case; IPv6 addresses in brackets.
  public let host: String
  /// The port; the scheme's default if the URL has none; 0 for `file`.
  public let port: Int
  /// With its leading slash, percent-encoded.
  public let path: String
  /// The decoded userinfo. It may be sent to this origin only.
  public let credentials: Credentials?

  /// `https://host:443`: the key for credentials, limits and connections; `file://` for local files.
  public var origin: String { port == 0 ? "\(scheme)://" : "\(scheme)://\(host):\(port)" }

  /// The text that may be shown and stored: a query may contain secrets.
  var withoutQuery: String { String(string.prefix(upToASCII: "?")) }

  public var description: String { string }

  /// The supported schemes and their ports. `ftpes` is FTP with mandatory TLS on port 21; `file` has no port.
  static let schemes = [
    "http": 80, "https": 443, "ftp": 21, "ftpes": 21, "ftps": 990, "sftp": 22, "scp": 22, "file": 0,
  ]

  /// Reads text from a person or a program. Spaces and control characters are refused, not encoded: they are mistakes.
  /// - Throws: `.invalidURL` or `.unsupportedScheme`.
  public init(_ text: String) throws(TransferError) {
    try Self.check(text)
    try self.init(parsing: text, relativeTo: nil, flags: CURLU_NON_SUPPORT_SCHEME)
  }

  /// Reads the URL of a file, or of an S3 object: `s3://bucket/key`, which is translated before a request is sent.
  public init(allowingS3 text: String) throws(TransferError) {
    guard text.lowercased().hasPrefix("s3://") else {
      try self.init(text)
      return
    }
    let https = try RequestURL("https" + text.dropFirst(2))
    self.init(s3: https)
  }

  /// The same bucket and key under the scheme `s3`.
  private init(s3 url: RequestURL) {
    string = "s3" + url.string.dropFirst("https".count)
    scheme = "s3"
    host = url.host
    port = url.port
    path = url.path
    credentials = url.credentials
  }

  init(_ url: RequestURL, credentials: Credentials?) {
    (string, scheme, host, port, path) = (url.string, url.scheme, url.host, url.port, url.path)
    self.credentials = credentials
  }

  /// Resolves a `Location` against this URL (RFC 9110 §10.2.2). Blanks and bytes beyond ASCII are encoded, because
  /// servers send them unencoded.
  func resolving(_ location: String) throws(TransferError) -> RequestURL {
    try RequestURL(parsing: location, relativeTo: string, flags: CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
  }

  private init(parsing text: String, relativeTo base: String?, flags: Int32) throws(TransferError) {
    guard let handle = curl_url() else { preconditionFailure("curl_url failed: out of memory") }
    defer { curl_url_cleanup(handle) }
    if let base { curl_url_set(handle, CURLUPART_URL, base, UInt32(flags)) }
    let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(flags))
    guard code == CURLUE_OK else {
      throw .invalidURL(Self.shown(text), reason: String(cString: curl_url_strerror(code)))
    }
    guard let scheme = Self.part(handle, CURLUPART_SCHEME)?.lowercased() else {
      throw .invalidURL(Self.shown(text), reason: "it has no scheme")
    }
    guard let defaultPort = Self.schemes[scheme] else { throw .unsupportedScheme(scheme) }
    // libcurl skips a third slash and reads the path's first segment as the host; other parsers find no host.
    let isFile = scheme == "file"
    let host = isFile ? "" : Self.part(handle, CURLUPART_HOST) ?? ""
    guard isFile || Self.authority(in: text)?.first != "/" && !host.isEmpty else {
      throw .invalidURL(Self.shown(text), reason: "it has no host")
    }
    if let user = Self.part(handle, CURLUPART_USER, decoding: true) {
      let password = Self.part(handle, CURLUPART_PASSWORD, decoding: true) ?? ""
      credentials = Credentials(username: user, password: password)
    } else {
      credentials = nil
    }
    for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
      curl_url_set(handle, part, nil, 0)
    }
    guard let whole = Self.part(handle, CURLUPART_URL) else {
      throw .invalidURL(Self.shown(text), reason: "it cannot be read")
    }
    // libcurl writes a file URL without a path (`file:///?a`) as `file://(nil)` or `file:///`.
    guard !isFile || whole.utf8.starts(with: "file:///".utf8) && whole.utf8.count > "file:///".utf8.count else {
      throw .invalidURL(Self.shown(text), reason: "it names no file")
    }
    // libcurl encodes no character of a host: a relative reference can put a control character there.
    try Self.check(whole)
    guard whole.utf8.elementsEqual(text.utf8) || Self.isReadUnchanged(whole) else {
      throw .invalidURL(Self.shown(text), reason: "its host can be read in two ways; write it without percent signs")
    }
    string = whole
    self.scheme = scheme
    self.host = host.lowercased()
    port = Self.part(handle, CURLUPART_PORT).flatMap { Int($0) } ?? defaultPort
    // libcurl accepts port 0, to which no connection can be made.
    guard isFile || port > 0 else { throw .invalidURL(Self.shown(text), reason: "it names port 0") }
    path = Self.part(handle, CURLUPART_PATH) ?? "/"
    // `file:a/b` names a relative path, which libcurl writes as `file://a/b`: another URL.
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw .invalidURL(Self.shown(text), reason: "its path does not begin with /")
    }
    if isRemoteFile, let reason = Self.objection(to: path, scheme: scheme) {
      throw .invalidURL(Self.shown(text), reason: reason)
    }
  }

  /// libcurl decodes a percent-encoded host after it looked for an IPv4 address: `http://213074%33/` becomes
  /// `http://2130743/`, which the next parser reads as 0.32.131.55.
  private static func isReadUnchanged(_ url: String) -> Bool {
    guard let handle = curl_url() else { preconditionFailure("curl_url failed: out of memory") }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return false }
    return part(handle, CURLUPART_URL)?.utf8.elementsEqual(url.utf8) ?? false
  }

  private static func check(_ text: String) throws(TransferError) {
    do throws(URLText.Problem) {
      _ = try URLText(text)
    } catch {
      throw .invalidURL(shown(text), reason: "it \(error)")
    }
  }

  /// The text after `scheme://` or a leading `//`; `nil` if the text names no host.
  private static func authority(in text: String) -> Substring? {
    let bytes = text.utf8
    let slash = UInt8(ascii: "/")
    var index = bytes.startIndex
    while index < bytes.endIndex, bytes[index] != slash {
      let byte = bytes[index]
      bytes.formIndex(after: &index)
      if byte == UInt8(ascii: ":") { break }
      guard isSchemeByte(byte) else { return nil }
    }
    guard index == bytes.startIndex || bytes[bytes.index(before: index)] == UInt8(ascii: ":"),
      bytes[index...].starts(with: [slash, slash])
    else { return nil }
    return text[bytes.index(index, offsetBy: 2)...]
  }

  /// RFC 3986 §3.1.
  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  private static func part(_ handle: OpaquePointer, _ part: CURLUPart, decoding: Bool = false) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, decoding ? UInt32(CURLU_URLDECODE) : 0) == CURLUE_OK, let text else {
      return nil
    }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// A URL as errors show it: without control characters, userinfo and query, and of limited length.
  private static func shown(_ text: String) -> String {
    var text = text.prefix(upToASCII: "?")
    if let at = text.lastIndex(ofASCII: "@"), let slashes = text.firstRange(ofASCII: "://"), slashes.upperBound <= at {
      text = text[..<slashes.upperBound] + text.suffix(after: at)
    }
    return String(
      text.prefix(200).map {
        $0.unicodeScalars.allSatisfy { $0.value > 0x1F && !(0x7F..<0xA0).contains($0.value) } ? $0 : "?"
      })
  }
}
