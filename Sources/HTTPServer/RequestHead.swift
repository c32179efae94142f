import NIOHTTP1

/// What a request's head says about the connection and the body, and what is wrong with it beyond the decoder's checks.
struct RequestHead {
  let keepsAlive: Bool
  let hasBody: Bool
  /// `nil` for a body in chunks.
  let declaredBytes: Int?
  let awaitsContinue: Bool
  let error: RequestError?

  init(_ head: HTTPRequestHead, _ limits: ServerLimits) {
    // A length that is no number, or a greater one than Int can hold, is refused below.
    let length = Self.contentLength(head.headers)
    let isChunked = head.headers.contains(name: "Transfer-Encoding")
    declaredBytes = isChunked ? nil : length ?? 0
    hasBody = isChunked || (length ?? 0) > 0
    awaitsContinue =
      !head.version.isOld && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    // After an upgrade that the client asks for, the decoder reads no more requests.
    let upgrades =
      head.method == .CONNECT
      || head.headers.contains(name: "Upgrade")
        && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    keepsAlive = head.isKeepAlive && !upgrades
    error = Self.error(head, limits)
  }

  /// `nil` if there is none. The decoder has checked that there is one at most.
  static func contentLength(_ headers: HTTPHeaders) -> Int? {
    headers.first(name: "Content-Length").flatMap { Int($0) }
  }

  private static func error(_ head: HTTPRequestHead, _ limits: ServerLimits) -> RequestError? {
    guard head.version.major == 1 else { return .unsupportedVersion }
    guard head.uri.utf8.count <= limits.targetBytes else { return .targetTooLong(limit: limits.targetBytes) }
    // ": " and the end of the line.
    // checked: the guard before the decoder bounds all of it
    let size = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    guard size <= limits.headBytes else { return .headTooLarge(limit: limits.headBytes) }
    let hosts = head.headers["Host"].count
    // RFC 9112 §3.2
    guard hosts == 1 || hosts == 0 && head.version.isOld else {
      return .malformed(hosts == 0 ? "the field Host is missing" : "the field Host occurs more than once")
    }
    if head.headers.contains(name: "Content-Length"), contentLength(head.headers) == nil {
      return .malformed("Content-Length is not a length")
    }
    // RFC 9112 §6.1: framing that two programs may read differently.
    let codings = head.headers["Transfer-Encoding"]
    guard !codings.isEmpty else { return nil }
    guard codings.count == 1, codings[0].lowercased() == "chunked" else {
      return .malformed("the only Transfer-Encoding is chunked")
    }
    guard !head.version.isOld else { return .malformed("HTTP/1.0 has no Transfer-Encoding") }
    guard !head.headers.contains(name: "Content-Length") else {
      return .malformed("Content-Length and Transfer-Encoding cannot be combined")
    }
    return nil
  }
}

extension HTTPVersion {
  /// HTTP/1.0: without chunks, interim responses and connections that stay open unless asked.
  var isOld: Bool { self == .http1_0 }
}
