import FoundationEssentials
import HTTPTypes
import Synchronization

/// Downloads S3 objects: turns `s3://bucket/key` into the object's URL at its endpoint, and signs each request for it.
/// `s3://bucket/?query` is a request about the bucket itself.
///
/// Endpoint, region and credentials are determined again for every attempt, as for uploads (`S3Options`). The request's own user
/// name and password are an access key. A bucket in another region is recognised by the server's response; the request is then
/// repeated in that region.
public final class S3Adapter: RequestInterceptor {
  private let options: S3Options
  private let environment: AWSEnvironment
  private let state = Mutex(State())

  private struct State {
    /// The region that requests are signed for; `nil` before the first attempt.
    var region: String?
    /// The region that a server has named.
    var named: String?
  }

  /// Downloads with these options.
  public convenience init(options: S3Options = S3Options()) {
    self.init(options: options, environment: .current)
  }

  init(options: S3Options, environment: AWSEnvironment) {
    self.options = options
    self.environment = environment
  }

  /// Leaves URLs of other schemes as they are.
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    guard request.url.scheme == "s3" else { return request }
    let (options, given) = (options, request.credentials)
    let environment = request.usesAmbientCredentials ? environment : nil
    var settings = try await BlockingIO.run { () throws(TransferError) in
      try S3Settings(options, given: given, environment: environment)
    }
    let region = state.withLock { state in
      state.region = state.named ?? settings.region
      return state.region ?? settings.region
    }
    settings.region = region
    var request = request
    (request.credentials, request.credential) = (nil, nil)
    if request.url.path == "/", !request.url.query.isEmpty {
      request.url = try S3Object.bucket(request.url, settings, options.addressing)
    } else {
      request.url = try S3Object(request.url, settings, options.addressing).url
      // S3 reports the digest of an object that has one.
      if request.headers[.amzChecksumMode] == nil { request.headers[.amzChecksumMode] = "ENABLED" }
    }
    request.signer = Signer(signature: AWSSignature(region: region), credentials: settings.credentials)
    // A redirect to another host needs another signature, and names the region for it.
    request.redirects = .sameOrigin
    return request
  }

  /// Repeats a request once if the bucket is in another region.
  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    guard let head = attempt.response, let region = S3Region.named(by: head) else { return .doNotRetry }
    return state.withLock { state in
      guard state.named == nil, let used = state.region, used != region else { return .doNotRetry }
      state.named = region
      return .retry
    }
  }

  private struct Signer: RequestSigner {
    let signature: AWSSignature
    let credentials: AWSCredentials

    func signed(_ request: TransferRequest) -> TransferRequest {
      signature.sign(request, with: credentials, payload: .empty, at: Date())
    }
  }
}

/// The region of a bucket, as a response to a request in a wrong region names it.
enum S3Region {
  /// - Parameter text: the region in the document of the response.
  static func named(by head: ResponseHead, in text: String? = nil) -> String? {
    guard [301, 307, 400].contains(head.status) else { return nil }
    // The region becomes part of the host's name.
    guard let region = head.field("x-amz-bucket-region") ?? text, !region.isEmpty, region.utf8.count <= 64,
      region.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else { return nil }
    return region
  }
}

extension HTTPField.Name {
  static let amzChecksumMode = Self("x-amz-checksum-mode")!
}
