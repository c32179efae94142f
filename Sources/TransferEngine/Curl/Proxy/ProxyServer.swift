import WireValues

/// A proxy, and how to authenticate with it.
public struct ProxyServer: Hashable, Sendable {
  /// The protocol of a proxy.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The proxy forwards plain HTTP requests, with all their fields; everything else uses `CONNECT`.
    case http
    /// The same, with TLS to the proxy.
    case https
    /// RFC 1928; names are resolved here.
    case socks5
    /// RFC 1928; names are resolved by the proxy.
    case socks5h

    var isHTTP: Bool { self == .http || self == .https }
    var defaultPort: Int { self == .https ? 443 : 1080 }
  }

  /// How to authenticate with an HTTP proxy; SOCKS has only one method (RFC 1929).
  public enum Authentication: Hashable, Sendable {
    /// Name and password in the first request (RFC 7617).
    case basic
    /// A hash of them after a challenge (RFC 7616).
    case digest
    /// The method that the proxy asks for.
    case negotiateAny
  }

  /// The protocol.
  public var kind: Kind
  /// A name or an address; IPv6 in brackets.
  public var host: String
  /// The port it listens on.
  public var port: Int
  /// Sent to the proxy only, never to an origin.
  public var credentials: Credentials?
  /// How name and password are sent.
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

  /// Reads the format of curl and most programs: `[http|https|socks5|socks5h://][user:password@]host[:port]`. The
  /// default port is 443 for https, otherwise 1080.
  /// - Throws: `.invalidURL`, without the password.
  public init(_ text: String) throws(TransferError) {
    let (scheme, rest) = Self.split(text)
    guard let kind = Kind(rawValue: scheme.lowercased()) else {
      throw .invalidURL("\(scheme)://…", reason: "a proxy is http, https, socks5 or socks5h")
    }
    // Parsed as an http URL, which has the same form.
    let url = try RequestURL("http://\(rest)")
    guard url.path == "/", !url.string.contains("?") else {
      throw .invalidURL("\(scheme)://\(url.host)…", reason: "a proxy has no path")
    }
    let hasPort = url.string.dropFirst("http://".count + url.host.count).first == ":"
    self.init(kind, host: url.host, port: hasPort ? url.port : kind.defaultPort, credentials: url.credentials)
  }

  private static func split(_ text: String) -> (scheme: Substring, rest: Substring) {
    guard let mark = text.firstRange(ofASCII: "://") else { return ("http", text[...]) }
    return (text[..<mark.lowerBound], text[mark.upperBound...])
  }

  /// `http://host:port`
  var url: String { "\(kind.rawValue)://\(host):\(port)" }
}

extension ProxyServer: CustomStringConvertible {
  /// Without the credentials.
  public var description: String { url }
}
