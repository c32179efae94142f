import FoundationEssentials
import HTTPTypes

/// Everything that one transfer needs, as a value.
struct WireRequest: Sendable {
  var url: String
  /// The request's URL, for the response's head.
  var source: RequestURL?
  /// Called on the transfer loop's thread with the final response's head, before the receiver gets it.
  var didReceiveHead: (@Sendable (ResponseHead) -> Void)?
  /// Host and port, for messages.
  var host: String
  var method: HTTPRequest.Method
  var headers: HTTPFields
  var body: RequestBody?
  var credential: HTTPCredential?
  /// Pieces of files and memory instead of `body`; read by `UploadBodyReader`.
  var upload: UploadBody?
  /// Use a new connection: libcurl repeats a request by itself if a reused connection turns out to be dead.
  var needsFreshConnection = false
  /// The user name and password, for protocols that have no other credentials.
  var credentials: Credentials? { credential?.credentials }
  /// `nil`: no Accept-Encoding is sent, and an encoded body is passed on as it is.
  var acceptEncoding: String?
  var decodingLimit = DecodingLimit()
  var connectTimeout: Duration
  /// A transfer slower than `stallSpeed` for this long has stalled; `nil` means no limit.
  var stallTimeout: Duration?
  /// Bytes per second for the body of this transfer: of the request if it is an upload, otherwise of the response. `nil`
  /// means no limit.
  var limitRate: Int64?
  /// The buckets of the session's `BandwidthLimits` that the transfer belongs to.
  var bandwidthBuckets: [String] = []
  var unixSocketPath: String?
  /// No other request uses its connection, before or after.
  var isolatesConnection = false
  /// `nil`: IPv4 and IPv6.
  var ipVersion: IPVersion?
  /// `nil`: the routes decide.
  var interface: String?
  /// `nil`: what server and libcurl agree on.
  var maximumHTTPVersion: HTTPVersion?
  /// Where to connect instead of the host's addresses.
  var hostAddress: HostAddress?
  /// The addresses to which it may connect.
  var addresses = AddressRule.any
  /// `nil`: no proxy, whatever the environment says.
  var proxy: ProxyServer?
  /// How an https proxy must prove its identity.
  var proxyTrust: Result<TrustPolicy, TransferError> = .success(.system)
  /// A file of certificate authorities that replaces the system's, if `trust` uses the session's authorities.
  var certificateAuthorityFile: String?
  /// How the server must prove its identity, or the error with which the transfer fails.
  var trust: Result<TrustPolicy, TransferError> = .success(.system)
  var minimumTLSVersion = TLSVersion.v1_2
  /// Presented to a server that asks for a certificate.
  var clientIdentity: ClientIdentity?
  /// The limit for response heads, including interim responses.
  var maximumHeadBytes = 256 * 1024
  /// The limit for interim (1xx) responses.
  var maximumInterimResponses = 200

  /// Settings for protocols other than HTTP; `nil` for http and https.
  var remote: RemoteOptions?

  /// Whether the body that counts for `limitRate` is the request's.
  var isSending: Bool {
    if case .write? = remote?.operation { return true }
    return upload != nil
  }
}
