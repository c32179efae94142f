import FoundationEssentials

/// Names and values for a request.
public typealias Parameters = [String: any Sendable]

/// Encodes parameters into a request: Alamofire's `ParameterEncoding`.
public protocol ParameterEncoding: Sendable {
  /// Returns the request with the parameters; unchanged if they are `nil`.
  func encode(_ request: TransferRequest, with parameters: Parameters?) throws -> TransferRequest
}

extension ParameterEncoding where Self == URLEncoding {
  /// The default options; the method decides between query and body.
  public static var urlEncoding: URLEncoding { URLEncoding() }
}

extension ParameterEncoding where Self == JSONEncoding {
  /// Compact JSON.
  public static var json: JSONEncoding { JSONEncoding() }
}
