import HTTPTypes
import WireValues

/// The fields of "Resumable Uploads for HTTP" by interop version: 3 says `Upload-Incomplete`, 4 and later `Upload-Complete`;
/// 6 and later name the content of an append (draft-ietf-httpbis-resumable-upload, its list of changes).
struct ResumableFields: Sendable, Equatable {
  static let current = 8
  static let known = 3...current

  var version: Int

  /// Says whether the upload is whole with this request.
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

  /// Whether an answer says that the upload is whole; `nil` where it says nothing. Both names are understood.
  static func isComplete(_ head: ResponseHead) -> Bool? {
    if let value = head.field("Upload-Complete") { return value.trimmingBlanks() == "?1" }
    if let value = head.field("Upload-Incomplete") { return value.trimmingBlanks() == "?0" }
    return nil
  }

  /// The version that an answer is of, if it is one that is known here.
  static func version(of head: ResponseHead) -> Int? {
    guard let version = head.field("Upload-Draft-Interop-Version").flatMap({ Int($0.trimmingBlanks()) }),
      known.contains(version)
    else { return nil }
    return version
  }
}

/// `Upload-Limit`: a structured dictionary of integers; what is not known is passed over.
struct UploadLimit: Sendable, Equatable {
  var maximumSize: Int64?
  var maximumAppend: Int64?
  var minimumAppend: Int64?

  init?(_ head: ResponseHead) {
    guard let value = head.field("Upload-Limit") else { return nil }
    for item in value.split(separator: ",") {
      let pair = item.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks() }
      // Parameters of an item follow a semicolon.
      guard pair.count == 2, let number = CheckedNumber(digits: pair[1].prefix { $0 != ";" }.trimmingBlanks()).value
      else { continue }
      switch pair[0] {
      case "max-size": maximumSize = number
      case "max-append-size": maximumAppend = number
      case "min-append-size": minimumAppend = number
      default: continue
      }
    }
  }
}
