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
  /// Bytes per second, the average of this transfer; `nil` means no limit.
  var limitRate: Int64?
  var unixSocketPath: String?
  /// No other request uses its connection, before or after.
  var isolatesConnection = false
  /// `nil`: IPv4 and IPv6.
  var ipVersion: IPVersion?
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

  /// libcurl 7.88 reads up to 100 buffers from the socket before it checks the rate limit. With a limit the buffer is
  /// so small that this burst stays below a fifth of a second (CURLOPT_BUFFERSIZE(3): at least 1024).
  var bufferSize: Int { limitRate.map { Int(min(max(1024, $0 / 512), 256 * 1024)) } ?? 256 * 1024 }

  /// Bytes per second below which a transfer counts as stalled. A slow response is progress; keep-alive bytes are not.
  var stallSpeed: Int { limitRate.map { $0 < 64 ? 1 : 8 } ?? 8 }
}
