import HTTPTypes
import WireValues

/// Assembles a response head from the lines that libcurl delivers, one in each call.
struct ResponseHeadParser {
  enum Step: Equatable {
    /// More lines follow.
    case reading
    /// An interim (1xx) response has ended; the final one follows.
    case interim(ResponseHead)
    case finished(ResponseHead)
    case tooLarge
  }

  private var head: ResponseHead?
  /// Whether the last head that began has ended.
  private(set) var isDone = false
  private var bytes = 0
  private var interims = 0
  private let limits: HeadLimits

  init(_ limits: HeadLimits) { self.limits = limits }

  /// One line with its CRLF. Trailers, which follow the body, are counted and dropped.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
    bytes = bytes.saturatingSum(line.count)
    guard bytes <= limits.totalBytes else { return .tooLarge }
    let text = line.withoutLineEnd
    // Another head may follow one that asked for credentials. After a success no head follows: such a line is a
    // trailer.
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

extension UnsafeRawBufferPointer {
  /// Without the end of the line and the blanks and tabs before it.
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
