import FoundationEssentials
import HTTPTypes
import Synchronization

/// Sends requests about one S3 object: signs them, and interprets failures.
final class S3Client: Sendable {
  private let base: TransferRequest
  private let target: RequestURL
  private let options: S3Options
  private let wire: UploadClient
  private let settings: Mutex<S3Settings>

  /// - Throws: `.upload(.credentials)`, `.invalidURL`.
  init(
    _ request: TransferRequest, _ options: S3Options, _ environment: AWSEnvironment, _ wire: UploadClient
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

  /// The object with its current endpoint.
  func object() throws(TransferError) -> S3Object {
    try S3Object(target, settings.withLock { $0 }, options.addressing)
  }

  /// One request.
  struct Call: Sendable {
    var method: HTTPRequest.Method
    var query: [(String, String?)] = []
    var headers: HTTPFields = [:]
    /// Whether the user's own header fields are sent: with the request that creates the object, but not with parts and
    /// lists.
    var isMaking = false
    /// The number of requests that run at the same time and share the job's rate limit.
    var share = 1
    /// libcurl must not repeat it: a second multipart upload would cost money until it is deleted.
    var isOnce = false
    var payload = AWSSignature.Payload.empty
    var body: @Sendable () -> UploadBody? = { nil }
  }

  /// Fields that every request about an object needs if the object was created with them.
  private static let everywhere = ["x-amz-server-side-encryption-customer-", "x-amz-request-payer", "x-amz-expected-"]

  /// Sends one request; sends it again if the bucket turns out to be in another region.
  /// - Throws: the failure that S3 reported, and failures of the connection.
  func send(_ call: Call) async throws(TransferError) -> UploadResponse {
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
      // A redirected request would need another signature.
      let response = try await wire.send(request, call.body(), .init(isOnce: call.isOnce, followsRedirects: false))
      if let failure = response.failure { throw failure }
      guard let head = response.head else { throw .connection(.broken("no response")) }
      if (200..<300).contains(head.status) { return response }
      let error = S3Failure(response)
      if let region = error.region(head), region != known.region {
        settings.withLock { $0.region = region }
        continue
      }
      throw error.transferError(head)
    }
    throw .upload(.unsupported("it does not report the region of the bucket"))
  }
}
