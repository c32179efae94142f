import CCurl

/// A URL as libcurl reads it: the very parser that will open the connection decides what host and port it names, so
/// that no check can be led astray by another reading (`libcurl-url(3)`).
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
  /// Without userinfo and fragment.
  public let string: String
  /// Lower case.
  public let scheme: String
  /// Lower case; IPv6 addresses in brackets.
  public let host: String
  /// The port, the scheme's own where the URL has none; 0 for `file`.
  public let port: Int
  /// With its leading slash, still percent-encoded.
  public let path: String
  /// The userinfo, decoded. It belongs to this origin alone.
  public let credentials: Credentials?

  /// `https://host:443`: what credentials, limits and connections are counted by; `file://` for local files.
  public var origin: String { port == 0 ? "\(scheme)://" : "\(scheme)://\(host):\(port)" }

  /// What may be shown and kept: a query may hold secrets.
  var withoutQuery: String { String(string.prefix { $0 != "?" }) }

  public var description: String { string }

  /// The schemes that can be used, and their ports. `ftpes` is FTP that must become TLS on port 21; `file` has no port.
  static let schemes = [
    "http": 80, "https": 443, "ftp": 21, "ftpes": 21, "ftps": 990, "sftp": 22, "scp": 22, "file": 0,
  ]

  /// What a person or a program gave. Blanks and control characters are refused, not encoded: they are mistakes.
  /// - Throws: `.invalidURL` or `.unsupportedScheme`.
  public init(_ text: String) throws(TransferError) {
    guard !text.isEmpty else { throw .invalidURL("", reason: "it is empty") }
    if let bad = text.utf8.first(where: { $0 <= 0x20 || $0 == 0x7F }) {
      let name = bad == UInt8(ascii: " ") ? "a blank" : "a control character"
      throw .invalidURL(Self.shown(text), reason: "it contains \(name)")
    }
    guard Self.authority(in: text) != nil, !text.hasPrefix("/") else {
      throw .invalidURL(Self.shown(text), reason: "it has no scheme, like https://")
    }
    try self.init(parsing: text, relativeTo: nil, flags: CURLU_NON_SUPPORT_SCHEME)
  }

  /// Where an upload goes: also `s3://bucket/key`, which no request is sent to as it is.
  public init(uploadTarget text: String) throws(TransferError) {
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

  /// Where a `Location` leads from here (RFC 9110 §10.2.2). Blanks and bytes beyond ASCII are encoded, as servers
  /// send them raw.
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
    // libcurl skips a third slash and takes the path's first segment for the host, where others see no host at all.
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
    string = whole
    self.scheme = scheme
    self.host = host.lowercased()
    port = Self.part(handle, CURLUPART_PORT).flatMap { Int($0) } ?? defaultPort
    path = Self.part(handle, CURLUPART_PATH) ?? "/"
    if isRemoteFile, let reason = Self.objection(to: path, scheme: scheme) {
      throw .invalidURL(Self.shown(text), reason: reason)
    }
  }

  /// What follows `scheme://` or a leading `//`, to the text's end; `nil` where it names no host.
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

  /// A URL in an error: no control characters, no userinfo, no query, not endless.
  private static func shown(_ text: String) -> String {
    var text = text[...]
    if let query = text.firstIndex(of: "?") { text = text[..<query] }
    if let at = text.lastIndex(of: "@"), let slashes = text.firstRange(of: "://"), slashes.upperBound <= at {
      text = text[..<slashes.upperBound] + text[text.index(after: at)...]
    }
    return String(
      text.prefix(200).map { $0.unicodeScalars.allSatisfy { $0.value > 0x1F && $0.value != 0x7F } ? $0 : "?" })
  }
}
