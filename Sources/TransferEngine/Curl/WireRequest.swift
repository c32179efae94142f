public import FoundationEssentials
import HTTPTypes

/// Everything one transfer needs, as a value: what goes on the wire in one hop, nothing later decided.
struct WireRequest: Sendable {
  var url: String
  /// For messages: the host and port that is talked to.
  var host: String
  var method: HTTPRequest.Method
  var headers: HTTPFields
  var body: RequestBody?
  var credential: HTTPCredential?
  /// Pieces of files and memory instead of `body`; read by `UploadBodyReader`.
  var upload: UploadBody?
  /// Not on a connection that served before: libcurl sends a request again by itself where such a one turns out dead.
  var needsFreshConnection = false
  /// The user name and password, for protocols that know nothing else.
  var credentials: Credentials? { credential?.credentials }
  /// `nil`: no Accept-Encoding is sent, and an encoded body is passed on as it is.
  var acceptEncoding: String?
  var decodingLimit = DecodingLimit()
  var connectTimeout: Duration
  /// A transfer slower than `stallSpeed` for this long has stalled; `nil` waits for ever.
  var stallTimeout: Duration?
  /// Bytes a second, average of this transfer; `nil`: as fast as it goes.
  var limitRate: Int64?
  var unixSocketPath: String?
  /// Where it may lead.
  var addresses = AddressRule.any
  /// `nil`: none, whatever the environment says.
  var proxy: ProxyServer?
  /// What the TLS handshake with an https proxy must prove.
  var proxyTrust: Result<TrustPolicy, TransferError> = .success(.system)
  /// A CA bundle instead of the system's, where `trust` asks for the session's authorities.
  var certificateAuthorityFile: String?
  /// What the TLS handshake must prove, or why that cannot be said: the transfer fails with it.
  var trust: Result<TrustPolicy, TransferError> = .success(.system)
  var minimumTLSVersion = TLSVersion.v1_2
  /// Shown to a server that asks for one.
  var clientIdentity: ClientIdentity?
  /// 100 K of response head in all, interim responses included, is plenty; more is an attack.
  var maximumHeadBytes = 256 * 1024
  /// Interim (1xx) answers are counted by this.
  var maximumInterimResponses = 200

  /// What the protocols other than HTTP need; `nil` for http and https.
  var remote: RemoteOptions?

  /// libcurl 7.88 reads what the socket holds, up to 100 buffers of it, before it looks at the rate limit: with a limit the
  /// buffer is so small that this burst stays below a fifth of a second (CURLOPT_BUFFERSIZE(3): not below 1024).
  var bufferSize: Int { limitRate.map { Int(min(max(1024, $0 / 512), 256 * 1024)) } ?? 256 * 1024 }

  /// Bytes a second below which a transfer counts as stalled. A slow drip is progress; a keep-alive crumb is not.
  var stallSpeed: Int { limitRate.map { $0 < 64 ? 1 : 8 } ?? 8 }
}

/// What is sent with a request.
public enum RequestBody: Sendable {
  /// These bytes, which stay in memory until the request ends.
  case data(Data)
  /// The file at this path, read as it is sent. Its size must not change meanwhile.
  case file(path: String)
  /// What an asynchronous sequence brings, sent once, in chunks.
  case stream(BodyPipe)
  /// These, one after the other, as one body: what a form of any size is in constant memory.
  case segments([BodySegment])
}

/// A piece of a body.
public enum BodySegment: Sendable, Equatable {
  /// These bytes, kept in memory.
  case data(Data)
  /// These bytes of the file at this path, read as they are sent. The file must hold them all when the request begins
  /// and until it ends: one that becomes shorter fails the request, and is never filled up with zeros.
  case file(path: String, range: Range<Int64>)
  /// What a stream brought, kept on the disk without a name for as long as the segment is there.
  case kept(KeptStream)

  /// Bytes that it adds to the body.
  public var count: Int64 {
    switch self {
    case .data(let data): Int64(data.count)
    // checked: `BodyReader` refuses ranges that begin below 0
    case .file(_, let range): range.upperBound - range.lowerBound
    case .kept(let stream): stream.count
    }
  }
}

/// The bytes of a stream in a file without a name, which is gone when nobody holds it.
public struct KeptStream: Sendable, Equatable {
  let file: SpooledFile
  /// How many bytes were kept.
  public let count: Int64

  public static func == (one: KeptStream, other: KeptStream) -> Bool { one.file === other.file }
}

/// A user name and password for the origin they were given for, and for no other.
public struct Credentials: Hashable, Sendable, CustomStringConvertible {
  /// The user's name, not encoded.
  public var username: String
  /// The password, not encoded. No description shows it.
  public var password: String

  /// A name and a password, as they are: nothing in them is encoded or has a meaning.
  public init(username: String, password: String) {
    self.username = username
    self.password = password
  }

  /// Never the password.
  public var description: String { "Credentials(\(username), ***)" }
}
