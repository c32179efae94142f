/// A value that describes a request, such as a case of a program's router. A `TransferRequest` describes itself.
public protocol URLRequestConvertible: Sendable {
  /// Called once for every attempt.
  /// - Throws: anything; the request then fails, and nothing is sent.
  func asURLRequest() throws -> TransferRequest
}

extension TransferRequest: URLRequestConvertible {
  public func asURLRequest() -> TransferRequest { self }
}
