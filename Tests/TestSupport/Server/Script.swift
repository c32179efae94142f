import Foundation

/// What the loopback server does with one request: steps, executed in order on the socket.
///
/// Nothing is added: no Content-Length, no Date. After the last step the connection is closed with FIN, unless
/// that step is `.keepAlive`. Steps that write body bytes are passed over when the request was a HEAD.
public struct Script: Sendable, ExpressibleByArrayLiteral {
  /// One act on the socket.
  public enum Step: Sendable {
    /// A status line, header lines and the empty line.
    case status(Int, reason: String? = nil, headers: HeaderList = [:])
    /// Bytes as they are, for HEAD too; not counted as body.
    case raw(Data)
    /// Body bytes.
    case body(Data)
    /// Body bytes of a payload, made as they are sent.
    case bodyFrom(Payload, Range<Int64>)
    /// One chunk of a chunked body.
    case chunk(Data)
    /// A payload's bytes as chunks of at most 64 KiB, without the last one.
    case chunksFrom(Payload, Range<Int64>)
    /// The chunk that ends a chunked body.
    case lastChunk
    /// The same bytes over and over until the client goes. Not counted as body.
    case endless(Data)
    /// Writes what follows no faster than this.
    case drip(bytesPerSecond: Int)
    /// Silence until `LoopbackServer.release()`, or until the client goes.
    case stall
    /// Silence until the gate opens, or the client goes.
    case waitFor(Gate)
    /// Opens a gate: tells the test that the script has come here.
    case signal(Gate)
    /// Reads the request's body, or so much of it. Only for servers that leave bodies to the script.
    case readBody(upTo: Int64 = .max)
    /// Ends the connection with RST, after what was written has reached the client (or 2 s, if it reads nothing).
    case reset
    /// Ends the connection with FIN.
    case close
    /// Ends the script; the next request on the connection is served.
    case keepAlive
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }
  public init(arrayLiteral elements: Step...) { steps = elements }

  public static func + (first: Script, second: Script) -> Script {
    Script(first.steps + second.steps)
  }

  /// A whole response with Content-Length that keeps the connection.
  public static func response(_ status: Int, headers: HeaderList = [:], body: Data = Data()) -> Script {
    var headers = headers
    if status >= 200 && status != 204 && status != 304 {
      headers["Content-Length"] = headers["Content-Length"] ?? String(body.count)
    }
    return [.status(status, headers: headers), .body(body), .keepAlive]
  }

  /// A whole response of text.
  public static func response(_ status: Int, headers: HeaderList = [:], text: String) -> Script {
    response(status, headers: headers, body: Data(text.utf8))
  }

  /// A redirect; without `Location` when it is `nil`.
  public static func redirect(to location: String?, status: Int = 302) -> Script {
    var headers: HeaderList = [:]
    headers["Location"] = location
    return response(status, headers: headers)
  }
}

/// The usual reason phrase of a status (RFC 9110 §15).
func reasonPhrase(_ status: Int) -> String {
  switch status {
  case 100: "Continue"
  case 200: "OK"
  case 201: "Created"
  case 204: "No Content"
  case 206: "Partial Content"
  case 301: "Moved Permanently"
  case 302: "Found"
  case 303: "See Other"
  case 304: "Not Modified"
  case 307: "Temporary Redirect"
  case 308: "Permanent Redirect"
  case 401: "Unauthorized"
  case 403: "Forbidden"
  case 404: "Not Found"
  case 405: "Method Not Allowed"
  case 412: "Precondition Failed"
  case 413: "Content Too Large"
  case 416: "Range Not Satisfiable"
  case 429: "Too Many Requests"
  case 500: "Internal Server Error"
  case 503: "Service Unavailable"
  default: "Status"
  }
}
