import WireValues

/// The target of a request: a path and a query. RFC 9112 §3.2
public struct RequestTarget: Equatable, Sendable {
  /// As it was sent, percent-encoded, without the query.
  public let path: String
  private let query: Substring?

  /// - Parameter text: the origin form `/path?query`, or the absolute form `http://host/path?query`, whose scheme and host
  ///   are ignored.
  public init(_ text: String) {
    var rest = text[...]
    if rest.utf8.first != UInt8(ascii: "/"), let scheme = rest.firstRange(ofASCII: "://") {
      rest = rest[scheme.upperBound...]
      rest = rest.firstIndex(ofASCII: "/?").map { rest[$0...] } ?? ""
    }
    rest = rest.prefix(upToASCII: "#")
    if let mark = rest.firstIndex(ofASCII: "?") {
      path = mark == rest.startIndex ? "/" : String(rest[..<mark])
      query = rest.suffix(after: mark)
    } else {
      path = rest.isEmpty ? "/" : String(rest)
      query = nil
    }
  }

  /// The components of the path, percent-decoded. One that is not valid percent-encoding stays as it was sent.
  public var components: [String] {
    path.split(atASCII: "/").map { $0.percentDecoded ?? String($0) }
  }

  /// The first value of a query parameter, percent-decoded: `""` for one without a value, `nil` if it is not there.
  public subscript(parameter name: String) -> String? {
    guard let query else { return nil }
    for pair in query.split(atASCII: "&") {
      let parts = pair.split(atASCII: "=", maximum: 1, keepsEmpty: true)
      guard parts[0] == name else { continue }
      guard parts.count == 2 else { return "" }
      return parts[1].percentDecoded ?? String(parts[1])
    }
    return nil
  }
}
