import HTTPTypes

/// The status line and fields of a final response, as they came.
public struct ResponseHead: Sendable, Equatable {
  public var status: Int
  /// `HTTP/1.1`, `HTTP/2`, …
  public var version: String
  public var reason: String
  public var headers: HTTPFields

  public init(status: Int, version: String = "HTTP/1.1", reason: String = "", headers: HTTPFields = [:]) {
    self.status = status
    self.version = version
    self.reason = reason
    self.headers = headers
  }

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
      guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else {
        throw .response(.invalidContentLength(String(value.prefix(40))))
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
  private var isDone = false
  private var bytes = 0
  private var interims = 0
  private let maximumBytes: Int
  private let maximumInterims: Int

  init(maximumBytes: Int, maximumInterims: Int) {
    self.maximumBytes = maximumBytes
    self.maximumInterims = maximumInterims
  }

  /// One line, its CRLF included. Trailers, which come after the body, are counted and dropped.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
    bytes += line.count
    guard bytes <= maximumBytes else { return .tooLarge }
    let text = String(decoding: line, as: UTF8.self).trimmingLineEnd()
    if text.hasPrefix("HTTP/") {
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
        return interims > maximumInterims ? .tooLarge : .interim(head)
      }
      isDone = true
      return .finished(head)
    }
    if let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])) {
      let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      head?.headers.append(HTTPField(name: name, value: String(value)))
    }
    return .reading
  }

  private static func statusLine(_ text: String) -> ResponseHead {
    let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
    return ResponseHead(
      status: parts.count > 1 ? Int(parts[1]) ?? 0 : 0, version: String(parts[0]),
      reason: parts.count > 2 ? String(parts[2]) : "")
  }
}

extension StringProtocol {
  /// Without the blanks and tabs around it (`OWS`, RFC 9110 §5.6.3); those within stay.
  func trimmingBlanks() -> SubSequence {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return self[endIndex...]
    }
    return self[first...last]
  }
}

extension String {
  fileprivate func trimmingLineEnd() -> String {
    var view = self[...]
    while let last = view.unicodeScalars.last, last == "\r" || last == "\n" || last == " " || last == "\t" {
      view.unicodeScalars.removeLast()
    }
    return String(view)
  }
}
