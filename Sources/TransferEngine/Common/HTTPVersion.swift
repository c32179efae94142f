/// A version of HTTP.
public enum HTTPVersion: String, Hashable, Sendable, CaseIterable {
  /// RFC 9112.
  case http1_1 = "1.1"
}
