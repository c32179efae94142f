public import FoundationEssentials

/// A value that names a URL: text, Foundation's `URL`, `RequestURL`.
public protocol URLConvertible: Sendable {
  /// Called once for every attempt.
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
