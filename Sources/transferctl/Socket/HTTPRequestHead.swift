import TransferAPI

/// The head of an HTTP/1.1 request to the daemon, which closes the connection after its response (RFC 9112 §3, §9.6).
struct HTTPRequestHead {
  let method: String
  /// Path and query, percent-encoded.
  let path: String
  /// Besides those that every request has.
  let headers: [String: String]
  /// `nil`: the request has no body.
  let body: Body?

  enum Body: Equatable, Sendable {
    /// In bytes.
    case length(Int)
    /// The length is not known beforehand (RFC 9112 §7.1).
    case chunks
  }

  /// The bytes that are sent.
  /// - Throws: `ControlError.unexpected` if a value contains characters that would end its line.
  func bytes() throws(ControlError) -> [UInt8] {
    var fields = [("Host", "transferd"), ("User-Agent", "transferctl/\(Version.current)"), ("Connection", "close")]
    switch body {
    case .length(let length): fields.append(("Content-Length", String(length)))
    case .chunks: fields.append(("Transfer-Encoding", "chunked"))
    case nil: if method != "GET" && method != "DELETE" { fields.append(("Content-Length", "0")) }
    }
    fields += headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    let words = [method, path] + fields.flatMap { [$0.0, $0.1] }
    let areUsable = words.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }
    guard areUsable, !method.contains(" "), !path.contains(" "), path.hasPrefix("/") else {
      throw .unexpected("cannot ask the daemon: the request for \(path.printable) has control characters or spaces")
    }
    let lines = ["\(method) \(path) HTTP/1.1"] + fields.map { "\($0.0): \($0.1)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
