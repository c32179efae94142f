import FoundationEssentials
import HTTPTypes

/// The media types that encodings set.
enum MediaTypes {
  static let form = "application/x-www-form-urlencoded; charset=utf-8"
  static let json = "application/json"
  static let propertyList = "application/x-plist"
}

extension TransferRequest {
  /// Sets the body, and Content-Type unless the request has one.
  mutating func setBody(_ data: Data, type: String) {
    if headers[.contentType] == nil { headers[.contentType] = type }
    body = .data(data)
  }
}
