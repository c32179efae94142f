import Foundation

/// One response in the making: correct when it is made, then bent by the faults of a `FileBehaviour`.
public struct Answer: Sendable {
  /// How the body's end is told.
  public enum Framing: Sendable {
    /// By Content-Length, unless the headers have one already.
    case length
    /// By chunks, and the last one if `isEnded`.
    case chunks(isEnded: Bool)
    /// By the end of the connection.
    case close
  }

  /// What is served, as it was when the request came.
  public let file: ServedFile
  public var status = 200
  public var headers: HeaderList = [:]
  /// Where the body's bytes come from: the file, or what stands in its place.
  public var content: Payload
  /// The part of `content` that is the body.
  public var range: Range<Int64> = 0..<0
  public var framing = Framing.length
  /// Steps before the status line.
  public var prelude: [Script.Step] = []
  /// Steps between body bytes: after so many bytes of this response's body.
  public var interruptions: [(after: Int64, steps: [Script.Step])] = []
  /// Steps after the body.
  public var trailer: [Script.Step] = []
  /// What is sent in place of all the rest.
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

  /// Makes the body a part of the file, and says so in `Content-Range`.
  public mutating func setPart(_ part: Range<Int64>) {
    status = 206
    content = file.payload
    range = part
    headers["Content-Range"] = contentRange(part, total: file.payload.size)
  }

  /// Puts another body, whole, in the place of the file's.
  public mutating func setBody(_ data: Data, contentType: String? = "text/plain") {
    content = Payload(data)
    range = 0..<content.size
    headers["Content-Type"] = contentType
    headers["Content-Range"] = nil
  }

  /// Makes the answer one that is not about the file: another status, no validators, a small body.
  public mutating func replace(_ status: Int, body: Data, contentType: String? = "text/plain") {
    self.status = status
    for name in ["ETag", "Last-Modified", "Accept-Ranges"] { headers[name] = nil }
    setBody(body, contentType: contentType)
  }

  /// The steps that send this answer.
  func script(isHead: Bool) -> Script {
    if let instead { return instead }
    var steps = prelude
    steps.append(.status(status, headers: framedHeaders))
    if !isHead { steps += bodySteps }
    if case .close = framing { steps.append(.close) } else { steps.append(.keepAlive) }
    return Script(steps)
  }

  private var framedHeaders: HeaderList {
    var headers = headers
    switch framing {
    case .length:
      let hasBody = status != 204 && status != 304
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
