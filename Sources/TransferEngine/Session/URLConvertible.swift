public import FoundationEssentials
public import HTTPTypes

/// Alamofire's names for swift-http-types' values.
public typealias HTTPMethod = HTTPRequest.Method
/// Fields of a head, several of one name included.
public typealias HTTPHeaders = HTTPFields

/// What can say which URL is meant: text, Foundation's `URL`, `RequestURL`.
public protocol URLConvertible: Sendable {
  /// Asked for every attempt anew.
  /// - Throws: anything; the request then fails, and nothing is sent.
  func asURL() throws -> RequestURL
}

extension RequestURL: URLConvertible {
  public func asURL() -> RequestURL { self }
}

extension String: URLConvertible {
  public func asURL() throws(TransferError) -> RequestURL { try RequestURL(self) }
}

extension URL: URLConvertible {
  public func asURL() throws(TransferError) -> RequestURL { try RequestURL(absoluteString) }
}

/// What can say which request is meant. A `TransferRequest` says itself; a router of a program says what it likes.
public protocol URLRequestConvertible: Sendable {
  /// Asked for every attempt anew.
  /// - Throws: anything; the request then fails, and nothing is sent.
  func asURLRequest() throws -> TransferRequest
}

extension TransferRequest: URLRequestConvertible {
  public func asURLRequest() -> TransferRequest { self }
}

/// A request's description, from which every attempt is built anew.
struct RequestSource: Sendable {
  private let make: @Sendable () throws -> TransferRequest

  init(_ make: @escaping @Sendable () throws -> TransferRequest) { self.make = make }

  init(_ convertible: any URLRequestConvertible) {
    self.init { try convertible.asURLRequest() }
  }

  /// - Throws: `TransferError` as it is; anything else as `.hook(.convertible, …)`.
  func request() throws(TransferError) -> TransferRequest {
    do {
      return try make()
    } catch {
      throw .of(.convertible, error)
    }
  }
}
