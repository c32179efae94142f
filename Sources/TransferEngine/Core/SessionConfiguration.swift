public import HTTPTypes

/// The settings of all requests of a session.
public struct SessionConfiguration: Sendable {
  /// Sent with every request, unless the request has a field of the same name.
  public var defaultHeaders: HTTPFields
  /// The limit for making a connection, including TLS.
  public var connectTimeout: Duration = .seconds(30)
  /// A transfer without progress for this long has stalled; `nil` means no limit.
  public var stallTimeout: Duration? = .seconds(30)
  /// Idle connections that are kept for later requests.
  public var maximumIdleConnections = 64
  /// The limit for the body of a `DataRequest`; a larger one is an error.
  public var maximumBodyBytes = 64 << 20
  /// Requests start when their outcome is first asked for, by a handler or by `await`, without `resume()`.
  public var startRequestsImmediately = true
  /// Sends all requests through this Unix socket, whatever host their URL names (`CURLOPT_UNIX_SOCKET_PATH(3)`).
  public var unixSocketPath: String?
  /// Which URLs from servers are followed, unless the request says otherwise.
  public var redirects = RedirectPolicy.any
  /// A file of PEM certificates that replaces the system's certificate authorities.
  public var certificateAuthorityFile: String?
  /// `nil`: no proxy. The proxies of the environment are used only if you ask for them: `.environment()`.
  public var proxy: ProxyConfiguration?
  /// How much larger a decoded body may be than the bytes that were received.
  public var decodingLimit = DecodingLimit()
  /// The oldest TLS version that is allowed, also for proxies.
  public var minimumTLSVersion = TLSVersion.v1_2
  /// Client certificates, each for one origin.
  public var clientIdentities = ClientIdentities()
  /// Whether `ftp:` connections use TLS; `ftpes:` and `ftps:` always do.
  public var ftpSecurity = FTPSecurity.none
  /// How SSH servers (`sftp:`, `scp:`) are verified, and how to log in.
  public var ssh = SSHConfiguration()
  /// Allows `file:` URLs. Off by default: otherwise anyone who adds a URL could read every file that this process can
  /// read.
  public var allowsFileURLs = false

  /// The defaults: 30 s to connect, 30 s without progress, TLS 1.2 or newer, no proxy, no files.
  public init() {
    defaultHeaders = .default
  }
}
