import FoundationEssentials
import HTTPTypes

/// One header field, by name and value, with Alamofire's constructors for common fields.
public struct HTTPHeader: Hashable, Sendable {
  /// Compared without regard to case.
  public let name: String
  /// Control characters are replaced by blanks when the header is added to `HTTPHeaders`.
  public let value: String

  /// A field with this name and value.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  public static func == (lhs: HTTPHeader, rhs: HTTPHeader) -> Bool {
    lhs.name.lowercased() == rhs.name.lowercased() && lhs.value == rhs.value
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name.lowercased())
    hasher.combine(value)
  }

  /// `Accept`: the content types that the client accepts.
  public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
  /// `Accept-Charset`.
  public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }
  /// `Accept-Language`.
  public static func acceptLanguage(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Language", value: value) }
  /// `Accept-Encoding`. With this field the engine sends exactly this value instead of all codings that it can decode.
  public static func acceptEncoding(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Encoding", value: value) }
  /// `Authorization` with any value.
  public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
  /// `Authorization` with the Bearer scheme (RFC 6750 §2.1).
  public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }
  /// `Authorization` with the Basic scheme (RFC 7617 §2).
  public static func authorization(username: String, password: String) -> HTTPHeader {
    authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
  }
  /// `Content-Disposition`.
  public static func contentDisposition(_ value: String) -> HTTPHeader {
    HTTPHeader(name: "Content-Disposition", value: value)
  }
  /// `Content-Encoding`.
  public static func contentEncoding(_ value: String) -> HTTPHeader {
    HTTPHeader(name: "Content-Encoding", value: value)
  }
  /// `Content-Type`.
  public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
  /// `User-Agent`.
  public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
  /// `User-Agent` of the engine.
  public static var defaultUserAgent: HTTPHeader { userAgent("TransferEngine/0.1 libcurl/\(CurlLibrary.version)") }
}

extension HTTPHeader: CustomStringConvertible {
  /// `Name: value`; the value of a secret field is replaced by `***`.
  public var description: String {
    guard let name = HTTPField.Name(name) else { return "\(name): \(Redaction.mark)" }
    return "\(name): \(Redaction.value(of: HTTPField(name: name, value: value)))"
  }
}
