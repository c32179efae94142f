import Foundation

/// One response under construction: correct at first, then modified by the faults of a `FileBehaviour`.
public struct Answer: Sendable {
  /// The framing of the body.
  public enum Framing: Sendable {
    /// Content-Length, unless the headers already have one.
    case length
    /// Chunks, with the last one if `isEnded`.
    case chunks(isEnded: Bool)
    /// The end of the connection.
    case close
  }

  /// The served file at the time of the request.
  public let file: ServedFile
  public var status = 200
  public var headers: HeaderList = [:]
  /// The source of the body's bytes: the file or its replacement.
  public var content: Payload
  /// The part of `content` that is the body.
  public var range: Range<Int64> = 0..<0
  public var framing = Framing.length
  /// Steps before the status line.
  public var prelude: [Script.Step] = []
  /// Steps between body bytes, after the given number of bytes of this response's body.
  public var interruptions: [(after: Int64, steps: [Script.Step])] = []
  /// Steps after the body.
  public var trailer: [Script.Step] = []
  /// The steps that replace the whole response.
  public var instead: Script?

  init(file: ServedFile) {
    self.file = file
    content = file.payload
  }

  func with(_ status: Int) -> Answer {
    var answer = self
    answer.status = status
    return answer
  }

  /// Makes the body a part of the file, with `Content-Range`.
  public mutating func setPart(_ part: Range<Int64>) {
    status = 206
    content = file.payload
    range = part
    headers["Content-Range"] = contentRange(part, total: file.payload.size)
  }

  /// Replaces the body by other bytes.
  public mutating func setBody(_ data: Data, contentType: String? = "text/plain") {
    content = Payload(data)
    range = 0..<content.size
    headers["Content-Type"] = contentType
    headers["Content-Range"] = nil
  }

  /// Makes the response independent of the file: another status, no validators, a small body.
  public mutating func replace(_ status: Int, body: Data, contentType: String? = "text/plain") {
    self.status = status
    for name in ["ETag", "Last-Modified", "Accept-Ranges"] { headers[name] = nil }
    setBody(body, contentType: contentType)
  }

  /// The steps that send this response.
  func script(isHead: Bool) -> Script {
    if let instead { return instead }
    var steps = prelude
    steps.append(.status(status, headers: framedHeaders))
    if !isHead, hasBody { steps += bodySteps }
    if case .close = framing { steps.append(.close) } else { steps.append(.keepAlive) }
    return Script(steps)
  }

  /// Bytes after the head of a 204 or 304 would be read as the next response on the connection (RFC 9112 §6.3).
  private var hasBody: Bool { status != 204 && status != 304 }

  private var framedHeaders: HeaderList {
    var headers = headers
    switch framing {
    case .length:
      if headers["Content-Length"] == nil && hasBody { headers["Content-Length"] = String(range.count) }
    case .chunks:
      headers["Content-Length"] = nil
      headers["Transfer-Encoding"] = "chunked"
    case .close:
      headers["Content-Length"] = nil
      headers["Connection"] = "close"
    }
    return headers
  }

  private var bodySteps: [Script.Step] {
    var steps: [Script.Step] = []
    var offset = range.lowerBound
    let inOrder = interruptions.enumerated().sorted { ($0.1.after, $0.0) < ($1.1.after, $1.0) }.map(\.1)
    for interruption in inOrder {
      let place = range.lowerBound + interruption.after
      guard place <= range.upperBound else { break }
      steps.append(piece(offset..<place))
      steps += interruption.steps
      offset = place
    }
    steps.append(piece(offset..<range.upperBound))
    if case .chunks(let isEnded) = framing { steps.append(isEnded ? .lastChunk : .close) }
    return steps + trailer
  }

  private func piece(_ piece: Range<Int64>) -> Script.Step {
    if case .chunks = framing { return .chunksFrom(content, piece) }
    return .bodyFrom(content, piece)
  }
}

/// A `Content-Range` value (RFC 9110 §14.4).
public func contentRange(_ range: Range<Int64>, total: Int64?) -> String {
  "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map(String.init) ?? "*")"
}
