public import HTTPTypes

/// What holds for all requests of a session.
public struct SessionConfiguration: Sendable {
  /// Sent with every request unless the request has a field of the same name.
  public var defaultHeaders: HTTPFields
  /// How long a connection, TLS included, may take.
  public var connectTimeout: Duration = .seconds(30)
  /// Without progress for this long a transfer has stalled; `nil` waits for ever.
  public var stallTimeout: Duration? = .seconds(30)
  /// Idle connections kept for later requests.
  public var maximumIdleConnections = 64
  /// A larger body of a `DataRequest` is an error.
  public var maximumBodyBytes = 64 << 20
  /// Requests begin when their outcome is first asked for, by a handler or by `await`, without `resume()`.
  public var startRequestsImmediately = true
  /// All requests go through this Unix socket, whatever host their URL names (`CURLOPT_UNIX_SOCKET_PATH(3)`).
  public var unixSocketPath: String?
  /// Which of the URLs that servers name are followed, where the request does not say.
  public var redirects = RedirectPolicy.any
  /// A PEM bundle instead of the system's roots.
  public var certificateAuthorityFile: String?
  /// `nil`: none. The environment's proxies are used only where they are asked for: `.environment()`.
  public var proxy: ProxyConfiguration?
  /// How far a decoded body may outgrow what came over the wire.
  public var decodingLimit = DecodingLimit()
  /// No older TLS is spoken, to proxies neither.
  public var minimumTLSVersion = TLSVersion.v1_2
  /// Client certificates, each for one origin.
  public var clientIdentities = ClientIdentities()
  /// Whether `ftp:` connections become TLS; `ftpes:` and `ftps:` always do.
  public var ftpSecurity = FTPSecurity.none
  /// How SSH servers (`sftp:`, `scp:`) are known and how they know us.
  public var ssh = SSHConfiguration()
  /// `file:` URLs may be read. Off: whoever adds a URL would read any file this process may read.
  public var allowsFileURLs = false

  /// The defaults: 30 s to connect, 30 s without progress, TLS 1.2 or newer, no proxy, no files.
  public init() {
    defaultHeaders = [.userAgent: "TransferEngine/0.1 libcurl/\(CurlLibrary.version)", .accept: "*/*"]
  }
}

/// Versions of TLS that are still safe; older ones are not offered (RFC 8996).
public enum TLSVersion: Sendable, Comparable {
  /// TLS 1.2 (RFC 5246).
  case v1_2
  /// TLS 1.3 (RFC 8446).
  case v1_3
}
