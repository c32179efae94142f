import Digests
public import FoundationEssentials
import HTTPTypes
import WireValues

/// AWS Signature Version 4: signs requests for a region and a service. Pure: it uses no clock, no file and no
/// environment.
///
/// A signature is valid for one method, host, path and query: a redirected request must be signed again.
public struct AWSSignature: Sendable, Hashable {
  /// What the signature says about the body.
  public enum Payload: Sendable, Hashable {
    /// Its SHA-256, lower-case hexadecimal.
    case sha256(String)
    /// The body is not signed. Only S3 accepts this, and https must protect the body.
    case unsigned

    /// The hash of an empty body.
    public static let empty = Payload.sha256("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

    /// The hash of this body.
    public static func of(_ data: Data) -> Payload { .sha256(HashFunction.sha256.digest(of: data).hex) }

    /// The value of `x-amz-content-sha256`.
    public var headerValue: String {
      switch self {
      case .sha256(let hex): hex
      case .unsigned: "UNSIGNED-PAYLOAD"
      }
    }
  }

  /// `us-east-1`
  public var region: String
  /// `s3`, `execute-api`, …
  public var service: String
  /// The path is encoded once more than in the request that is sent. True for all services except S3.
  public var encodesPathTwice: Bool
  /// Dot segments and double slashes are resolved for the signature. True for all services except S3.
  public var normalizesPath: Bool
  /// `x-amz-content-sha256` is sent. S3 requires it.
  public var sendsContentSHA256: Bool

  /// Signatures for one region (`us-east-1`) and service (`s3`).
  public init(region: String, service: String = "s3") {
    self.region = region
    self.service = service
    let isS3 = service == "s3" || service == "s3-object-lambda" || service == "s3-outposts" || service == "s3express"
    encodesPathTwice = !isS3
    normalizesPath = !isS3
    sendsContentSHA256 = isS3
  }

  static let algorithm = "AWS4-HMAC-SHA256"

  /// Fields that libcurl, the session or a proxy may set or change.
  private static let unsignedFields: Set<String> = [
    "accept-encoding", "authorization", "connection", "expect", "keep-alive", "proxy-authorization", "proxy-connection",
    "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id",
  ]

  /// The request with `Authorization`, `X-Amz-Date` and, if needed, `X-Amz-Security-Token` and `x-amz-content-sha256`.
  /// They replace those of an earlier signature. All fields of the request are signed, except those that may change.
  /// - Parameters:
  ///   - request: the request to sign.
  ///   - payload: the body's digest; the server refuses a wrong one.
  ///   - credentials: the secret is not stored.
  ///   - date: the time of the signature; servers refuse a time that is off by 15 minutes.
  public func sign(
    _ request: TransferRequest, with credentials: AWSCredentials, payload: Payload, at date: Date
  ) -> TransferRequest {
    var request = request
    (request.credentials, request.credential) = (nil, nil)  // they would become another Authorization
    request.url = Self.unambiguous(request.url)
    let time = Self.timestamp(date)
    request.headers[.authorization] = nil
    request.headers[.amzDate] = time
    request.headers[.amzSecurityToken] = credentials.sessionToken
    if sendsContentSHA256 { request.headers[.amzContentSHA256] = payload.headerValue }
    let canonical = AWSCanonicalRequest(
      method: request.method.rawValue, path: canonicalPath(request.url), query: AWSCanonical.query(request.url.query),
      headers: Self.signedFields(of: request), payloadHash: payload.headerValue)
    let signature = signature(of: canonical, secret: credentials.secretAccessKey, time: time)
    request.headers[.authorization] =
      "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(time)), "
      + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature)"
    return request
  }

  /// The request with the signature in its query. Anyone who has the URL can use it until it expires. The host and the
  /// named fields are signed; they must be sent exactly as they are in the request.
  /// - Parameter expiry: limited to 1 second to 7 days, the range that AWS allows.
  /// - Parameter credentials: the credentials whose secret signs the request; the secret is not stored.
  /// - Parameter date: the time of the signature; servers refuse a time that is off by 15 minutes.
  /// - Parameter fields: the names of fields that are signed in addition to the host; case does not matter.
  /// - Parameter payload: the body's digest; `.unsigned` if the body is not known yet.
  /// - Parameter request: the request as it will be sent, its fields included.
  public func presign(
    _ request: TransferRequest, with credentials: AWSCredentials, expiresIn expiry: Duration = .seconds(3600),
    signing fields: [String] = [], payload: Payload = .unsigned, at date: Date
  ) throws(TransferError) -> TransferRequest {
    var request = request
    (request.credentials, request.credential) = (nil, nil)
    let time = Self.timestamp(date)
    let names = Set(fields.map { $0.lowercased() } + ["host"])
    let headers = Self.signedFields(of: request).filter { names.contains($0.name.lowercased()) }
    var canonical = AWSCanonicalRequest(
      method: request.method.rawValue, path: canonicalPath(request.url), query: "", headers: headers,
      payloadHash: payload.headerValue)
    var added = [
      ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(time))"),
      ("X-Amz-Date", time), ("X-Amz-Expires", "\(min(max(1, expiry.components.seconds), 604_800))"),
      ("X-Amz-SignedHeaders", canonical.signedHeaders),
    ]
    if let token = credentials.sessionToken { added.append(("X-Amz-Security-Token", token)) }
    let replaced = Set(added.map(\.0) + ["X-Amz-Security-Token", "X-Amz-Signature"])
    let kept = AWSCanonical.pairs(request.url.query).filter { !replaced.contains($0.name) }
    let pairs =
      kept.map { "\($0.name)=\($0.value)" }
      + added.map { "\($0.0)=\($0.1.percentEncoded(allowing: .unreserved))" }
    let query = pairs.joined(separator: "&")
    canonical.query = AWSCanonical.query(query)
    let signature = signature(of: canonical, secret: credentials.secretAccessKey, time: time)
    request.url = try request.url.replacing(query: query + "&X-Amz-Signature=\(signature)")
    return request
  }

  func signature(of canonical: AWSCanonicalRequest, secret: String, time: String) -> String {
    let hash = HashFunction.sha256.digest(of: canonical.text.utf8).hex
    let text = [Self.algorithm, time, scope(time), hash].joined(separator: "\n")
    return Self.authentication(text, key: signingKey(secret, time: time)).hex
  }

  /// The key for one day, region and service, derived from the secret.
  func signingKey(_ secret: String, time: String) -> [UInt8] {
    [String(time.prefix(8)), region, service, "aws4_request"].reduce(Array("AWS4\(secret)".utf8)) {
      Self.authentication($1, key: $0)
    }
  }

  private static func authentication(_ text: String, key: [UInt8]) -> [UInt8] {
    HMAC.authenticationCode(for: text.utf8, key: key, using: .sha256)
  }

  private func scope(_ time: String) -> String { "\(time.prefix(8))/\(region)/\(service)/aws4_request" }

  private func canonicalPath(_ url: RequestURL) -> String {
    AWSCanonical.path(url.path, isNormalized: normalizesPath, isEncodedTwice: encodesPathTwice)
  }

  private static func signedFields(of request: TransferRequest) -> [(name: String, value: String)] {
    var fields = request.headers.map { (name: $0.name.rawName, value: $0.value) }
      .filter { !unsignedFields.contains($0.name.lowercased()) }
    if !fields.contains(where: { $0.name.lowercased() == "host" }) { fields.append(("host", request.url.hostField)) }
    return fields
  }

  /// A plus sign may mean a plus or a blank: it is encoded, so that client and server sign the same text.
  private static func unambiguous(_ url: RequestURL) -> RequestURL {
    guard url.query.contains("+") else { return url }
    // The result of changing a valid URL is a valid URL.
    return (try? url.replacing(query: url.query.replacing("+", with: "%2B"))) ?? url
  }

  /// `20130524T000000Z`
  static func timestamp(_ date: Date) -> String {
    date.formatted(Date.ISO8601FormatStyle()).filter { $0 != "-" && $0 != ":" }
  }
}

extension RequestURL {
  /// Without the question mark; empty if there is no query.
  var query: String { string.firstIndex(ofASCII: "?").map { String(string.suffix(after: $0)) } ?? "" }

  func replacing(query: String) throws(TransferError) -> RequestURL {
    let base = string.prefix(upToASCII: "?")
    return try RequestURL(query.isEmpty ? String(base) : "\(base)?\(query)")
  }

  /// The value of the Host field that libcurl sends: with the port only if it is not the scheme's default.
  var hostField: String {
    let isDefault = port == (scheme == "https" ? 443 : 80)
    return isDefault ? host : "\(host):\(port)"
  }
}

extension HTTPField.Name {
  static let amzDate = Self("X-Amz-Date")!
  static let amzSecurityToken = Self("X-Amz-Security-Token")!
  static let amzContentSHA256 = Self("x-amz-content-sha256")!
}
