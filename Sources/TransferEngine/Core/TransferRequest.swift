public import HTTPTypes
import WireValues

/// A request: what adapters may change. Described again for every attempt.
public struct TransferRequest: Sendable {
  /// The URL.
  public var url: RequestURL
  /// The method. Protocols other than HTTP ignore it.
  public var method: HTTPRequest.Method
  /// Added to the session's default fields; a field replaces those of the same name.
  public var headers: HTTPFields
  /// The body; `nil` for none.
  public var body: RequestBody?
  /// Sent to the URL's origin only; over HTTP with the Basic scheme.
  public var credentials: Credentials?
  /// Replaces `credentials` over HTTP. Sent to the URL's origin only.
  public var credential: HTTPCredential?
  /// The limit for making a connection, including TLS.
  public var connectTimeout: Duration
  /// An attempt without progress for this long has stalled; `nil` means no limit.
  public var stallTimeout: Duration?
  /// Bytes per second, for each transfer of the request alone: for the body of an upload, otherwise for that of the response.
  /// `nil` means no limit. `Session.bandwidth` has limits that can be changed while the transfer runs.
  public var limitRate: Int64?
  /// The buckets of `Session.bandwidth` whose limits its transfers obey. A name without a limit costs nothing.
  public var bandwidthBuckets: [String] = []
  /// A redirect led to another origin: the session's own fields may not be meant for it.
  var hasLeftOrigin = false
  /// The URL came from a server, by a redirect or otherwise.
  var isNamedByServer = false
  /// Which URLs from servers are followed; `nil`: the session's policy.
  public var redirects: RedirectPolicy?
  /// Allows connections to public addresses only, for the user's own URL too. Other addresses are refused before a byte
  /// is sent.
  public var requiresPublicAddress = false
  /// Allows credentials that belong to this process: SSH keys and the agent, and for S3 the environment and `~/.aws`.
  /// Turn it off for a request on behalf of another user: then only the request's own credentials are used.
  public var usesAmbientCredentials = true
  /// Proxy, addresses, versions, certificates and cookies, where they differ from the session's.
  public var connection: ConnectionSettings {
    // Not `_read`: see `Shared`.
    get { sharedConnection.value }
    _modify { yield &sharedConnection.value }
  }
  /// Signs the request just before each transfer. Not for another origin: a redirect there is sent without signature.
  public var signer: (any RequestSigner)?
  /// For `ftp:` URLs; `nil`: the session's.
  public var ftpSecurity: FTPSecurity?
  /// For `sftp:` and `scp:` URLs; `nil`: the session's.
  public var ssh: SSHConfiguration?
  /// Shared, because a request is copied at each step to its transfer, and few requests change these settings.
  private var sharedConnection = TransferRequest.standardConnection

  private static let standardConnection = Shared(ConnectionSettings())

  /// A request with these parts. It does not know the session's timeouts: the defaults are those of
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
  /// Without query and header values, which may contain secrets.
  public var description: String { "\(method.rawValue) \(url.origin)\(url.path)" }
}
