import Foundation

/// The actions of the loopback server for one request: steps that are executed in order on the socket.
///
/// Nothing is added, neither Content-Length nor Date. After the last step the connection is closed with FIN, unless
/// that step is `.keepAlive`. Steps that write body bytes are skipped for HEAD.
public struct Script: Sendable, ExpressibleByArrayLiteral {
  /// One action on the socket.
  public enum Step: Sendable {
    /// A status line, header lines and the empty line.
    case status(Int, reason: String? = nil, headers: HeaderList = [:])
    /// Raw bytes, also for HEAD; not counted as body.
    case raw(Data)
    /// Body bytes.
    case body(Data)
    /// Body bytes of a payload, generated while they are sent.
    case bodyFrom(Payload, Range<Int64>)
    /// One chunk of a chunked body.
    case chunk(Data)
    /// A payload's bytes as chunks of at most 64 KiB, without the last one.
    case chunksFrom(Payload, Range<Int64>)
    /// The chunk that ends a chunked body.
    case lastChunk
    /// The same bytes repeatedly until the client disconnects. Not counted as body.
    case endless(Data)
    /// Limits the rate of the following bytes.
    case drip(bytesPerSecond: Int)
    /// Stalls until `LoopbackServer.release()` is called or the client disconnects.
    case stall
    /// Stalls until the gate opens or the client disconnects.
    case waitFor(Gate)
    /// Opens a gate to tell the test that the script has reached this step.
    case signal(Gate)
    /// Reads the request's body, or this many bytes of it. Only for servers that leave bodies to the script.
    case readBody(upTo: Int64 = .max)
    /// Ends the connection with RST after the written bytes have reached the client (or after 2 s).
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

  /// A complete response with Content-Length that keeps the connection.
  public static func response(_ status: Int, headers: HeaderList = [:], body: Data = Data()) -> Script {
    var headers = headers
    if status >= 200 && status != 204 && status != 304 {
      headers["Content-Length"] = headers["Content-Length"] ?? String(body.count)
    }
    return [.status(status, headers: headers), .body(body), .keepAlive]
  }

  /// A complete response with a text.
  public static func response(_ status: Int, headers: HeaderList = [:], text: String) -> Script {
    response(status, headers: headers, body: Data(text.utf8))
  }

  /// A redirect; without `Location` if it is `nil`.
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
