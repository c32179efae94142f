import Crypto
import FoundationEssentials
import HTTPTypes
import Synchronization

/// Asks S3 about one object: signs each request, and reads what went wrong.
final class S3Client: Sendable {
  private let base: TransferRequest
  private let target: RequestURL
  private let options: S3Options
  private let wire: UploadWire
  private let settings: Mutex<S3Settings>

  /// - Throws: `.upload(.credentials)`, `.invalidURL`.
  init(
    _ request: TransferRequest, _ options: S3Options, _ environment: AWSEnvironment, _ wire: UploadWire
  ) async throws(TransferError) {
    target = request.url
    self.options = options
    self.wire = wire
    var base = request
    base.credentials = nil
    base.headers[.authorization] = nil
    self.base = base
    let (given, usesAmbient) = (request.credentials, request.usesAmbientCredentials)
    let settings = try await BlockingIO.run { () throws(TransferError) in
      try S3Settings(options, given: given, environment: usesAmbient ? environment : nil)
    }
    _ = try S3Object(request.url, settings, options.addressing)
    self.settings = Mutex(settings)
  }

  /// The object's own URL, as it is asked now.
  func object() throws(TransferError) -> S3Object {
    try S3Object(target, settings.withLock { $0 }, options.addressing)
  }

  /// What goes over the wire in one request.
  struct Call: Sendable {
    var method: HTTPRequest.Method
    var query: [(String, String?)] = []
    var headers: HTTPFields = [:]
    /// Whether the user's own fields belong to it: to the request that makes the object, not to parts and lists.
    var isMaking = false
    /// So many run at once, and share the job's rate limit.
    var share = 1
    /// libcurl must not send it twice: a second upload would be billed for ever.
    var isOnce = false
    var payload = AWSSignature.Payload.empty
    var body: @Sendable () -> UploadBody? = { nil }
  }

  /// Fields that belong to every request about an object that was made with them.
  private static let everywhere = ["x-amz-server-side-encryption-customer-", "x-amz-request-payer", "x-amz-expected-"]

  /// One request, once more where the bucket turns out to be of another region.
  /// - Throws: what S3 refused, in its own words, and failures of the connection.
  func send(_ call: Call) async throws(TransferError) -> UploadAnswer {
    for _ in 0..<2 {
      let known = settings.withLock { $0 }
      var request = base
      request.method = call.method
      if call.share > 1 { request.limitRate = base.limitRate.map { max(1, $0 / Int64(call.share)) } }
      request.url = try S3Object(target, known, options.addressing).url(call.query)
      request.headers = HTTPFields(
        base.headers.filter { field in
          call.isMaking || Self.everywhere.contains { field.name.canonicalName.hasPrefix($0) }
        })
      for field in call.headers { request.headers[field.name] = field.value }
      request = AWSSignature(region: known.region).sign(
        request, with: known.credentials, payload: call.payload, at: Date())
      // A redirect would need a signature of its own.
      let answer = try await wire.send(request, call.body(), .init(isOnce: call.isOnce, followsRedirects: false))
      if let failure = answer.failure { throw failure }
      guard let head = answer.head else { throw .connection(.broken("no answer")) }
      if (200..<300).contains(head.status) { return answer }
      let error = S3Failure(answer)
      if let region = error.region(head), region != known.region {
        settings.withLock { $0.region = region }
        continue
      }
      throw error.transferError(head)
    }
    throw .upload(.unsupported("it does not say in which region the bucket is"))
  }
}

/// What S3 says of a failure: an `<Error>` document, whatever the status.
struct S3Failure: Sendable, Equatable {
  var code: String
  var message: String
  private var named: String?

  init(_ answer: UploadAnswer) {
    let element = XMLElement(answer.data).flatMap { $0.name == "Error" ? $0 : nil }
    code = element?["Code"]?.text ?? ""
    message = element?["Message"]?.text ?? ""
    named = element?["Region"]?.text
  }

  /// `nil` where the document is not about a failure.
  init?(_ element: XMLElement) {
    guard element.name == "Error" else { return nil }
    code = element["Code"]?.text ?? ""
    message = element["Message"]?.text ?? ""
  }

  /// Where the bucket is, if that is what is wrong.
  func region(_ head: ResponseHead) -> String? {
    guard [301, 307, 400].contains(head.status) else { return nil }
    // The region becomes a part of the host's name.
    guard let region = head.field("x-amz-bucket-region") ?? named, !region.isEmpty, region.utf8.count <= 64,
      region.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else { return nil }
    return region
  }

  private static let transientCodes: Set<String> = [
    "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown", "Throttling",
    "ThrottlingException", "RequestLimitExceeded", "BadDigest", "XAmzContentSHA256Mismatch",
  ]

  func transferError(_ head: ResponseHead?) -> TransferError {
    if code == "NoSuchUpload" { return .upload(.gone) }
    let refusal = head.map(\.refusal)
    guard !code.isEmpty else { return refusal ?? .response(.malformed("an answer that is no XML")) }
    let passes = refusal?.isTransient == true
    let isTransient = passes || Self.transientCodes.contains(code)
    return .upload(
      .refused(
        code: RemoteErrors.printable(code), message: RemoteErrors.printable(message),
        // A `RequestTimeout` comes with 400, of which nobody would expect that it passes.
        status: isTransient && !passes ? nil : head?.status, retryAfter: refusal?.retryAfter, isTransient: isTransient))
  }
}
