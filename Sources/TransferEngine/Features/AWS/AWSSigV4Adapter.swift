import Digests
public import FoundationEssentials

/// Signs every attempt of a request with AWS Signature Version 4, with the credentials and the time of that attempt.
///
/// Bodies in files are read once more to be hashed, except for S3 over https, where the body may be unsigned. A stream
/// that is not stored cannot be hashed: it is sent unsigned, or the request fails.
public struct AWSSigV4Adapter: RequestInterceptor {
  /// Whether the signature covers the body.
  public enum PayloadSigning: Sendable {
    /// Bodies in memory are signed. Files are signed unless the service is S3 and the connection https.
    case automatic
    /// Files are read before they are sent, to be hashed.
    case always
    /// `UNSIGNED-PAYLOAD`, which only S3 accepts.
    case never
  }

  /// The region and the service of the signatures.
  public let signature: AWSSignature
  /// How bodies are signed.
  public let payloadSigning: PayloadSigning
  private let credentials: @Sendable () async throws -> AWSCredentials
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - signature: the region and the service.
  ///   - payloadSigning: whether the signature covers the body.
  ///   - now: the clock; servers refuse a time that is off by 15 minutes.
  ///   - credentials: asked for every attempt, so that temporary credentials can be renewed. An error that it throws
  ///     fails the request.
  public init(
    signature: AWSSignature, payloadSigning: PayloadSigning = .automatic,
    now: @escaping @Sendable () -> Date = { Date() },
    credentials: @escaping @Sendable () async throws -> AWSCredentials
  ) {
    self.signature = signature
    self.payloadSigning = payloadSigning
    self.now = now
    self.credentials = credentials
  }

  /// Signs for one region and service. `now` is the clock of the signatures; servers refuse a time that is off by 15
  /// minutes.
  public init(
    credentials: AWSCredentials, region: String, service: String = "s3", payloadSigning: PayloadSigning = .automatic,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(
      signature: AWSSignature(region: region, service: service), payloadSigning: payloadSigning, now: now
    ) { credentials }
  }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    try await signed(request)
  }

  /// The same without a session.
  public func signed(_ request: TransferRequest) async throws -> TransferRequest {
    let payload = try await payload(of: request)
    let credentials = try await credentials()
    return signature.sign(request, with: credentials, payload: payload, at: now())
  }

  private func payload(of request: TransferRequest) async throws(TransferError) -> AWSSignature.Payload {
    if case .never = payloadSigning { return .unsigned }
    guard let body = request.body else { return .empty }
    if case .data(let data) = body { return .of(data) }
    let mayBeUnsigned = signature.sendsContentSHA256 && request.url.scheme == "https"
    if case .automatic = payloadSigning, mayBeUnsigned { return .unsigned }
    // A stream can be read only once, when it is sent, so it cannot be hashed first.
    if case .stream = body { throw .body(.notReplayable) }
    return try await BlockingIO.run { () throws(TransferError) in try Self.hash(body) }
  }

  private static func hash(_ body: RequestBody) throws(TransferError) -> AWSSignature.Payload {
    var hash = IncrementalHash(.sha256)
    try BodyReader.forEachPiece(of: body) { hash.update($0) }
    return .sha256(hash.finalize().hex)
  }
}
