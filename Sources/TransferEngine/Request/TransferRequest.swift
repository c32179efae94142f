public import HTTPTypes

/// What is asked of a server: what adapters may change, rebuilt from its description for every attempt.
public struct TransferRequest: Sendable {
  /// Where it goes.
  public var url: RequestURL
  /// The method. Protocols other than HTTP ignore it.
  public var method: HTTPRequest.Method
  /// Added to the session's default fields; equal names replace them.
  public var headers: HTTPFields
  /// What is sent with it.
  public var body: RequestBody?
  /// Sent to the URL's origin only; over HTTP by the Basic scheme.
  public var credentials: Credentials?
  /// Comes before `credentials` over HTTP. Sent to the URL's origin only.
  public var credential: HTTPCredential?
  /// How long a connection, TLS included, may take.
  public var connectTimeout: Duration
  /// Without progress for this long the attempt has stalled; `nil` waits for ever.
  public var stallTimeout: Duration?
  /// Bytes a second; `nil`: no limit.
  public var limitRate: Int64?
  /// A redirect led to another origin than the one the user named: the session's own fields may not be for this one.
  var hasLeftOrigin = false
  /// A server named the URL, by a redirect or otherwise.
  var isNamedByServer = false
  /// Which of the URLs that servers name are followed; `nil`: the session's policy.
  public var redirects: RedirectPolicy?
  /// Every connection, that of the user's own URL included, leads to a public address or is refused before a byte is sent.
  public var requiresPublicAddress = false
  /// Credentials that belong to this process and not to the request may be used: SSH keys and the agent, and for S3 the
  /// environment, `~/.aws` and what they name. Off, for a request that another user asked for, only the request's own are.
  public var usesAmbientCredentials = true
  /// For `ftp:` URLs; `nil`: the session's.
  public var ftpSecurity: FTPSecurity?
  /// For `sftp:` and `scp:` URLs; `nil`: the session's.
  public var ssh: SSHConfiguration?

  /// A request with these parts. It does not know the session's timeouts: the defaults here are those of
  /// `SessionConfiguration`.
  public init(
    url: RequestURL, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: RequestBody? = nil,
    credentials: Credentials? = nil, connectTimeout: Duration = .seconds(30), stallTimeout: Duration? = .seconds(30),
    limitRate: Int64? = nil
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.credentials = credentials ?? url.credentials
    self.connectTimeout = connectTimeout
    self.stallTimeout = stallTimeout
    self.limitRate = limitRate
  }
}

extension TransferRequest: CustomStringConvertible {
  /// Without query and header values, where secrets live.
  public var description: String { "\(method.rawValue) \(url.origin)\(url.path)" }
}
