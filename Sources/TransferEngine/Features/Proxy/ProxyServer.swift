/// A proxy, and who we are to it.
public struct ProxyServer: Hashable, Sendable {
  /// What is spoken with a proxy.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Plain HTTP requests are forwarded by it, with all their fields; everything else goes through `CONNECT`.
    case http
    /// The same, with TLS on the way to the proxy.
    case https
    /// RFC 1928; names are resolved here.
    case socks5
    /// RFC 1928; names are resolved by the proxy.
    case socks5h

    var isHTTP: Bool { self == .http || self == .https }
    var defaultPort: Int { self == .https ? 443 : 1080 }
  }

  /// How an HTTP proxy is told who we are; SOCKS has one way only (RFC 1929).
  public enum Authentication: Hashable, Sendable {
    /// Name and password with the first request (RFC 7617).
    case basic
    /// A hash of them once the proxy asked (RFC 7616).
    case digest
    /// What the proxy asks for.
    case negotiateAny
  }

  /// What is spoken with it.
  public var kind: Kind
  /// A name or an address; IPv6 in brackets.
  public var host: String
  /// The port it listens on.
  public var port: Int
  /// Sent to the proxy alone, never to an origin.
  public var credentials: Credentials?
  /// How name and password are told.
  public var authentication: Authentication

  /// A proxy at this host and port.
  public init(
    _ kind: Kind = .http, host: String, port: Int, credentials: Credentials? = nil,
    authentication: Authentication = .basic
  ) {
    self.kind = kind
    self.host = host
    self.port = port
    self.credentials = credentials
    self.authentication = authentication
  }

  /// As curl and most other programs are told of a proxy: `[http|https|socks5|socks5h://][user:password@]host[:port]`.
  /// Without a port 443 for https, else 1080.
  /// - Throws: `.invalidURL`, which says no password.
  public init(_ text: String) throws(TransferError) {
    let (scheme, rest) = Self.split(text)
    guard let kind = Kind(rawValue: scheme.lowercased()) else {
      throw .invalidURL("\(scheme)://…", reason: "a proxy is http, https, socks5 or socks5h")
    }
    // Read as an http URL, whose form it has.
    let url = try RequestURL("http://\(rest)")
    guard url.path == "/", !url.string.contains("?") else {
      throw .invalidURL("\(scheme)://\(url.host)…", reason: "a proxy has no path")
    }
    let hasPort = url.string.dropFirst("http://".count + url.host.count).first == ":"
    self.init(kind, host: url.host, port: hasPort ? url.port : kind.defaultPort, credentials: url.credentials)
  }

  private static func split(_ text: String) -> (scheme: Substring, rest: Substring) {
    guard let mark = text.firstRange(of: "://") else { return ("http", text[...]) }
    return (text[..<mark.lowerBound], text[mark.upperBound...])
  }

  /// `http://host:port`
  var url: String { "\(kind.rawValue)://\(host):\(port)" }
}

extension ProxyServer: CustomStringConvertible {
  /// Never the credentials.
  public var description: String { url }
}
