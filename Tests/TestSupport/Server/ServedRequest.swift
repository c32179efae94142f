import Foundation

/// A request as the loopback server read it.
public struct ServedRequest: Sendable {
  /// Counts the requests of this server from 0, in the order they arrived.
  public internal(set) var index: Int
  /// Counts the connections of this server from 0.
  public let connection: Int
  /// Counts the requests on this connection from 0; above 0 the connection was reused.
  public let indexOnConnection: Int
  public let method: String
  /// The target of the request line, with path and query as sent.
  public let target: String
  public let headers: HeaderList
  /// The server's port.
  public let port: UInt16

  /// The first bytes of the body, at most `LoopbackServer.keptBodyBytes`.
  public internal(set) var body = Data()
  /// The number of received body bytes, kept or not.
  public internal(set) var bodyLength: Int64 = 0
  /// The SHA-256 of all body bytes that arrived.
  public internal(set) var bodySHA256 = sha256(of: Data())
  /// Whether the body arrived to its declared end.
  public internal(set) var isBodyComplete = false

  /// The target without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The target after the first `?`; `nil` when there is none.
  public var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The value of the `Range` header, without `bytes=`.
  public var range: String? {
    guard let value = headers["Range"], value.hasPrefix("bytes=") else { return nil }
    return String(value.dropFirst(6))
  }

  /// The part of `size` bytes that a single `Range` asks for (RFC 9110 §14.1.2); `nil` when there is no such
  /// range or it has more than one part, an empty range when it cannot be satisfied.
  public func range(of size: Int64) -> Range<Int64>? {
    guard let range, !range.contains(","), let dash = range.firstIndex(of: "-") else { return nil }
    let first = range[..<dash]
    let last = range[range.index(after: dash)...]
    if first.isEmpty {
      guard let suffix = Int64(last) else { return nil }
      return max(0, size - suffix)..<size
    }
    guard let start = Int64(first), start >= 0 else { return nil }
    guard start < size else { return size..<size }
    if last.isEmpty { return start..<size }
    guard let end = Int64(last), end >= start else { return nil }
    return start..<min(end + 1, size)
  }
}
