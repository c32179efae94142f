import HTTPTypes
import WireValues

/// The fields of "Resumable Uploads for HTTP" by interop version: 3 uses `Upload-Incomplete`, 4 and later
/// `Upload-Complete`; 6 and later name the content type of an append (draft-ietf-httpbis-resumable-upload, its list of
/// changes).
struct ResumableFields: Sendable, Equatable {
  static let current = 8
  static let known = 3...current

  var version: Int

  /// Sets the field that says whether this request completes the upload.
  func mark(_ request: inout TransferRequest, isComplete: Bool) {
    request.headers.set("Upload-Draft-Interop-Version", String(version))
    if version <= 3 {
      request.headers.set("Upload-Incomplete", isComplete ? "?0" : "?1")
    } else {
      request.headers.set("Upload-Complete", isComplete ? "?1" : "?0")
    }
  }

  /// A request to the upload's own URL.
  func request(_ base: TransferRequest, _ method: HTTPRequest.Method) -> TransferRequest {
    var request = base
    request.method = method
    request.headers[.contentType] = nil
    request.headers[.ifNoneMatch] = nil
    request.headers.set("Upload-Draft-Interop-Version", String(version))
    return request
  }

  func append(_ base: TransferRequest, at offset: Int64, isComplete: Bool) -> TransferRequest {
    var request = request(base, .patch)
    mark(&request, isComplete: isComplete)
    request.headers.set("Upload-Offset", String(offset))
    if version >= 6 { request.headers[.contentType] = "application/partial-upload" }
    return request
  }

  /// Whether a response says that the upload is complete; `nil` if it does not say. Reads both field names.
  static func isComplete(_ head: ResponseHead) -> Bool? {
    if let value = head.field("Upload-Complete") { return value.trimmingBlanks() == "?1" }
    if let value = head.field("Upload-Incomplete") { return value.trimmingBlanks() == "?0" }
    return nil
  }

  /// The interop version of a response, if it is a known one.
  static func version(of head: ResponseHead) -> Int? {
    guard let version = head.field("Upload-Draft-Interop-Version").flatMap({ Int($0.trimmingBlanks()) }),
      known.contains(version)
    else { return nil }
    return version
  }
}
