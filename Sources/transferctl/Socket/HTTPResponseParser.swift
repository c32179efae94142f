import FoundationEssentials
import WireValues

/// Reads one HTTP/1.1 response (RFC 9112) from pieces of any length. Interim responses (1xx) are skipped.
struct HTTPResponseParser {
  enum Element: Equatable {
    /// The final status code. It precedes the body.
    case status(Int)
    case body(Data)
  }

  /// The bytes are not a response, or end before the response does.
  struct Malformed: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  private enum State {
    case statusLine
    case fields
    /// Bytes of the body that are still missing.
    case length(Int64)
    case chunkSize
    /// Bytes of the chunk that are still missing.
    case chunk(Int64)
    case chunkEnd
    case trailers
    /// The body ends when the connection ends.
    case untilClose
    case complete
  }

  /// Bytes that all heads, chunk sizes in one piece, and trailers may have together.
  private static let maximumHead = 64 << 10
  /// Bytes of a line with a chunk's size and its extensions.
  private static let maximumChunkLine = 1024

  private var state = State.statusLine
  private var line: [UInt8] = []
  /// Bytes of heads and trailers so far.
  private var headBytes = 0
  private var status = 0
  private var contentLength: Int64?
  private var isChunked = false

  /// Whether the response has ended. Further bytes are ignored.
  var isComplete: Bool { if case .complete = state { true } else { false } }

  /// Reads the next bytes of the connection.
  mutating func push(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [Element] {
    var elements: [Element] = []
    var rest = bytes
    while !rest.isEmpty {
      switch state {
      case .complete: return elements
      case .untilClose:
        elements.append(.body(Data(rest)))
        return elements
      case .length(let left): state = take(left, &rest, &elements).map { .length($0) } ?? .complete
      case .chunk(let left): state = take(left, &rest, &elements).map { .chunk($0) } ?? .chunkEnd
      case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers:
        if let byte = rest.popFirst(), byte != UInt8(ascii: "\n") {
          try append(byte)
        } else if let status = try endLine() {
          elements.append(.status(status))
        }
      }
    }
    return elements
  }

  /// The connection has ended.
  mutating func finish() throws(Malformed) {
    switch state {
    case .complete: break
    case .untilClose: state = .complete
    case .statusLine where headBytes == 0: throw Malformed(description: "the connection was closed without a response")
    default: throw Malformed(description: "the connection was closed in the middle of the response")
    }
  }

  /// Takes bytes of the body. Returns how many are still missing; `nil`: none.
  private func take(_ left: Int64, _ rest: inout ArraySlice<UInt8>, _ elements: inout [Element]) -> Int64? {
    let piece = rest.prefix(Int(clamping: left))
    elements.append(.body(Data(piece)))
    rest = rest[piece.endIndex...]
    let missing = left - Int64(piece.count)  // checked: a prefix of at most `left` bytes
    return missing > 0 ? missing : nil
  }

  private mutating func append(_ byte: UInt8) throws(Malformed) {
    switch state {
    case .statusLine, .fields, .trailers:
      headBytes += 1
      guard headBytes <= Self.maximumHead else { throw Malformed(description: "the response's head is too long") }
    default:
      guard line.count < Self.maximumChunkLine else { throw Malformed(description: "a chunk's size is too long") }
    }
    line.append(byte)
  }

  /// Returns the final status at the end of its head.
  private mutating func endLine() throws(Malformed) -> Int? {
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.contains(where: { $0 == UInt8(ascii: "\r") || $0 == 0 }) else {
      throw Malformed(description: "a line of the response's head has control characters")
    }
    let text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    switch state {
    case .statusLine:
      status = try Self.status(text)
      (contentLength, isChunked) = (nil, false)
      state = .fields
    case .fields where text.isEmpty:
      guard status >= 200 else {
        state = .statusLine
        return nil
      }
      state = try bodyState()
      return status
    case .fields: try readField(text)
    case .chunkSize:
      let size = try Self.chunkSize(text)
      state = size == 0 ? .trailers : .chunk(size)
    case .chunkEnd:
      guard text.isEmpty else { throw Malformed(description: "a chunk is longer than its size says") }
      state = .chunkSize
    case .trailers: if text.isEmpty { state = .complete }
    case .length, .chunk, .untilClose, .complete: break
    }
    return nil
  }

  /// `HTTP/1.1 200 OK` (RFC 9112 §4)
  private static func status(_ line: String) throws(Malformed) -> Int {
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", words[1].utf8.count == 3,
      let code = CheckedNumber(digits: words[1]).int, (100...599).contains(code), code != 101
    else { throw Malformed(description: "this is not HTTP/1.1: \(String(line.prefix(60)).printable)") }
    return code
  }

  private mutating func readField(_ text: String) throws(Malformed) {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      throw Malformed(description: "a field of the response's head has no colon")
    }
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    let word = value.prefix { $0 != " " && $0 != "\t" }
    switch text[..<colon].lowercased() {
    case "content-length":
      guard value.dropFirst(word.count).allSatisfy({ $0 == " " || $0 == "\t" }),
        let length = CheckedNumber(digits: word).value, contentLength == nil || contentLength == length
      else { throw Malformed(description: "the response's Content-Length is unusable") }
      contentLength = length
    case "transfer-encoding":
      guard word.lowercased() == "chunked", word.count == value.count, !isChunked else {
        throw Malformed(description: "the response's Transfer-Encoding is unknown")
      }
      isChunked = true
    default: break
    }
  }

  /// How the body ends (RFC 9112 §6.3).
  private func bodyState() throws(Malformed) -> State {
    guard status != 204, status != 304 else { return .complete }
    guard isChunked else { return contentLength.map { $0 == 0 ? .complete : .length($0) } ?? .untilClose }
    guard contentLength == nil else {
      throw Malformed(description: "the response has both a Content-Length and a Transfer-Encoding")
    }
    return .chunkSize
  }

  /// Hexadecimal digits, then extensions (RFC 9112 §7.1).
  private static func chunkSize(_ line: String) throws(Malformed) -> Int64 {
    let digits = line.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
    guard !digits.isEmpty, digits.utf8.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
      let size = Int64(digits, radix: 16)
    else { throw Malformed(description: "a chunk's size is unusable") }
    return size
  }
}
