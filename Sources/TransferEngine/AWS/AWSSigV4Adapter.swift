import Crypto
public import FoundationEssentials

/// Signs every attempt of a request with AWS Signature Version 4, with the credentials and the time of that moment.
///
/// Bodies in files are read once to be hashed, except for S3 over https, where the body may go unsigned. A stream that is not
/// kept cannot be hashed: it goes unsigned or not at all.
public struct AWSSigV4Adapter: RequestInterceptor {
  /// How the body takes part in the signature.
  public enum PayloadSigning: Sendable {
    /// What is in memory is signed; a file is not where the service is S3 and the connection https.
    case automatic
    /// Files are read before they are sent, to be hashed.
    case always
    /// `UNSIGNED-PAYLOAD`, which only S3 takes.
    case never
  }

  /// The region and service that signatures are made for.
  public let signature: AWSSignature
  /// How bodies are signed.
  public let payloadSigning: PayloadSigning
  private let credentials: @Sendable () async throws -> AWSCredentials
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - now: the clock; a server refuses a time that is 15 minutes off.
  ///   - credentials: asked for every attempt, so that temporary ones can be renewed. What it throws fails the request.
  ///   - payloadSigning: how the body takes part in the signature.
  ///   - signature: the region and service.
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

  /// Signs for one region and service. `now` is the clock that signatures are dated by; servers refuse what is 15
  /// minutes off.
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
    // It can be read once only, and that is for sending.
    if case .stream = body { throw .body(.notReplayable) }
    return try await BlockingIO.run { () throws(TransferError) in try Self.hash(body) }
  }

  private static func hash(_ body: RequestBody) throws(TransferError) -> AWSSignature.Payload {
    let reader = try BodyReader(body)
    defer { reader.close() }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var hash = SHA256()
    while true {
      let count = try reader.read(into: buffer)
      guard count > 0 else { return .sha256(hash.finalize().hex) }
      hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
