import FoundationEssentials

/// A failure that S3 reported: an `<Error>` document, with any status.
struct S3Failure: Sendable, Equatable {
  var code: String
  var message: String
  private var named: String?

  init(_ response: UploadResponse) {
    let element = XMLElement(response.data).flatMap { $0.name == "Error" ? $0 : nil }
    code = element?["Code"]?.text ?? ""
    message = element?["Message"]?.text ?? ""
    named = element?["Region"]?.text
  }

  /// `nil` if the document is not an error.
  init?(_ element: XMLElement) {
    guard element.name == "Error" else { return nil }
    code = element["Code"]?.text ?? ""
    message = element["Message"]?.text ?? ""
  }

  /// The bucket's region, if the request was sent to a wrong one.
  func region(_ head: ResponseHead) -> String? {
    S3Region.named(by: head, in: named)
  }

  private static let transientCodes: Set<String> = [
    "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown", "Throttling",
    "ThrottlingException", "RequestLimitExceeded", "BadDigest", "XAmzContentSHA256Mismatch",
    "ConditionalRequestConflict",
  ]

  func transferError(_ head: ResponseHead?) -> TransferError {
    if code == "NoSuchUpload" { return .upload(.gone) }
    let refusal = head.map(\.refusal)
    guard !code.isEmpty else { return refusal ?? .response(.malformed("the response is not XML")) }
    let passes = refusal?.isTransient == true
    let isTransient = passes || Self.transientCodes.contains(code)
    return .upload(
      .refused(
        code: RemoteErrors.printable(code), message: RemoteErrors.printable(message),
        // A `RequestTimeout` has the status 400, but is transient.
        status: isTransient && !passes ? nil : head?.status, retryAfter: refusal?.retryAfter, isTransient: isTransient))
  }
}
