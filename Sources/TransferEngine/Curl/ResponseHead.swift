import FoundationEssentials
import HTTPTypes
import WireValues

/// The status line and header fields of a final response.
public struct ResponseHead: Sendable, Equatable {
  /// The status code, usually 200 to 599; 0 for protocols without one.
  public var status: Int
  /// `HTTP/1.1`, `HTTP/2`, …
  public var version: String
  /// The reason phrase; empty for HTTP/2, which has none.
  public var reason: String
  /// All fields in the order in which they arrived; trailers are dropped.
  public var headers: HTTPFields
  /// The URL of the request that this is the response to; `nil` for a head that was made by hand.
  public var url: RequestURL?

  /// A head made by hand, for example by a test.
  public init(
    status: Int, version: String = "HTTP/1.1", reason: String = "", headers: HTTPFields = [:], url: RequestURL? = nil
  ) {
    self.status = status
    self.version = version
    self.reason = reason
    self.headers = headers
    self.url = url
  }

  /// The status code, under the name that Foundation's `HTTPURLResponse` uses.
  public var statusCode: Int { status }

  /// The value of a field, under the name that Foundation uses; `nil` if there is none. Names are case-insensitive.
  public func value(forHTTPHeaderField name: String) -> String? { headers[name] }

  /// Whether the status redirects: 301, 302, 303, 307, 308 (RFC 9110 §15.4). 304 does not.
  public var isRedirect: Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// The body's length if Content-Length has exactly one value. `nil` for a chunked body, whatever Content-Length says
  /// (RFC 9112 §6.3).
  /// - Throws: for two different values, and for anything but digits that fit into 63 bits (RFC 9110 §8.6).
  public func contentLength() throws(TransferError) -> Int64? {
    guard !isChunked else { return nil }
    var length: Int64?
    for value in headers[values: .contentLength].flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) })
    {
      let digits = value.trimmingBlanks()
      guard let number = CheckedNumber(digits: digits).value else {
        throw .response(.invalidContentLength(RemoteErrors.printable(String(value.prefix(40)))))
      }
      if let length, length != number {
        throw .response(.invalidContentLength("\(length) and \(number)"))
      }
      length = number
    }
    return length
  }

  /// Whether the end of the body is known from the response itself, and not only from the end of the connection (RFC
  /// 9112 §6.3). False for HTTP/2 without Content-Length: to libcurl 7.88 a stream that the server resets with
  /// `NO_ERROR` in the middle of the body has ended like any other.
  public var isSelfDelimiting: Bool { headers[.contentLength] != nil || isChunked }

  private var isChunked: Bool {
    headers[values: .transferEncoding].contains { $0.lowercased().contains("chunked") }
  }

  /// The content coding in lower case; `nil` for none or `identity`.
  public var contentCoding: String? {
    let coding = headers[values: .contentEncoding].joined(separator: ",").lowercased()
    return coding.isEmpty || coding == "identity" ? nil : coding
  }
}

extension ResponseHead {
  /// The delay of `Retry-After`, from now on; `nil` without a valid one.
  var retryAfter: Duration? { headers[.retryAfter].flatMap { RetryAfter.delay(from: $0, now: Date()) } }

  /// The status as an error.
  var refusal: TransferError { .response(.unacceptableStatus(status, retryAfter: retryAfter)) }
}
