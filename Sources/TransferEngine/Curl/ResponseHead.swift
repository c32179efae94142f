import HTTPTypes
import WireValues

/// The status line and fields of a final response, as they came.
public struct ResponseHead: Sendable, Equatable {
  /// The status code, 200 to 599 in practice; of protocols without one, 0.
  public var status: Int
  /// `HTTP/1.1`, `HTTP/2`, …
  public var version: String
  /// The reason phrase; empty for HTTP/2, which has none.
  public var reason: String
  /// All fields in the order they came; trailers are dropped.
  public var headers: HTTPFields

  /// A head as a test or a program of one's own makes it.
  public init(status: Int, version: String = "HTTP/1.1", reason: String = "", headers: HTTPFields = [:]) {
    self.status = status
    self.version = version
    self.reason = reason
    self.headers = headers
  }

  /// Whether the status asks to go elsewhere: 301, 302, 303, 307, 308 (RFC 9110 §15.4). 304 does not.
  public var isRedirect: Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// The body's length, where Content-Length says it in one way only. `nil` for a chunked body, whatever else its head says
  /// (RFC 9112 §6.3).
  /// - Throws: for two lengths that differ, and for anything but digits that fit 63 bits (RFC 9110 §8.6).
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

  /// Whether the end of the body can be told from the connection's end (RFC 9112 §6.3). HTTP/2 always can.
  public var isSelfDelimiting: Bool {
    !version.hasPrefix("HTTP/1") || headers[.contentLength] != nil || isChunked
  }

  private var isChunked: Bool {
    headers[values: .transferEncoding].contains { $0.lowercased().contains("chunked") }
  }

  /// The content coding, lower case; `nil` for none or `identity`.
  public var contentCoding: String? {
    let coding = headers[values: .contentEncoding].joined(separator: ",").lowercased()
    return coding.isEmpty || coding == "identity" ? nil : coding
  }
}

/// How much of a response head is taken. What exceeds a limit ends the transfer before anything reads the fields.
struct HeadLimits: Sendable, Equatable {
  /// All lines, those of interim responses and trailers included.
  var totalBytes = 256 * 1024
  /// Fields of one head. HTTPTypes stops the program at 65,535 of them.
  var fields = 2000
  var nameBytes = 256
  var valueBytes = 64 * 1024
  var interims = 200
}

/// Puts a response head together from the lines libcurl hands over, one a call.
struct ResponseHeadParser {
  enum Step: Equatable {
    /// More lines follow.
    case reading
    /// An interim (1xx) response ended; the final one follows.
    case interim(ResponseHead)
    case finished(ResponseHead)
    case tooLarge
  }

  private var head: ResponseHead?
  /// Whether the last head that began has also ended.
  private(set) var isDone = false
  private var bytes = 0
  private var interims = 0
  private let limits: HeadLimits

  init(_ limits: HeadLimits) { self.limits = limits }

  /// One line, its CRLF included. Trailers, which come after the body, are counted and dropped.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
    bytes = bytes.saturatingSum(line.count)
    guard bytes <= limits.totalBytes else { return .tooLarge }
    let text = line.withoutLineEnd
    // Another head may follow one that asked for credentials. None follows success: such a line is a trailer.
    let isTrailer = isDone && head.map { (200..<300).contains($0.status) } ?? false
    if !isTrailer, text.starts(with: "HTTP/".utf8) {
      head = Self.statusLine(text)
      isDone = false
      return .reading
    }
    guard !isDone else { return .reading }
    if text.isEmpty {
      guard let head else { return .reading }
      if head.status < 200 {
        interims += 1
        self.head = nil
        return interims > limits.interims ? .tooLarge : .interim(head)
      }
      isDone = true
      return .finished(head)
    }
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return .reading }
    guard text[..<colon].count <= limits.nameBytes else { return .tooLarge }
    if let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self)) {
      let value = text[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard value.count <= limits.valueBytes, head.map({ $0.headers.count < limits.fields }) ?? true else {
        return .tooLarge
      }
      head?.headers.append(HTTPField(name: name, value: String(decoding: value, as: UTF8.self)))
    }
    return .reading
  }

  private static func statusLine(_ text: Slice<UnsafeRawBufferPointer>) -> ResponseHead {
    let parts = text.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
      .map { String(decoding: $0, as: UTF8.self) }
    let status = parts.count > 1 ? CheckedNumber(digits: parts[1]).value(in: 100...999) : nil
    return ResponseHead(
      status: Int(status ?? 0), version: parts[0], reason: parts.count > 2 ? parts[2] : "")  // checked: 3 digits
  }
}

extension StringProtocol {
  /// Without the blanks and tabs around it (`OWS`, RFC 9110 §5.6.3); those within stay.
  func trimmingBlanks() -> SubSequence {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return self[endIndex...]
    }
    return self[first...last]  // checked: both were found, the last one from the end
  }
}

extension UnsafeRawBufferPointer {
  /// Without the end of the line, and the blanks and tabs before it.
  fileprivate var withoutLineEnd: Slice<UnsafeRawBufferPointer> {
    var end = endIndex
    while end > startIndex {
      switch self[end - 1] {  // checked: end > startIndex
      // checked: end > startIndex
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: " "), UInt8(ascii: "\t"): end -= 1
      default: return self[..<end]
      }
    }
    return self[..<end]
  }
}
