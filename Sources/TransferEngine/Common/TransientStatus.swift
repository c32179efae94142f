/// HTTP statuses after which the same request may succeed.
enum TransientStatus {
  /// Alamofire's, and 423 (locked, RFC 4918 §11.3), 425 (RFC 8470), 429 (RFC 6585), 507 (RFC 4918) and Cloudflare's
  /// 520–524.
  static let all: Set<Int> = [408, 423, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524]

  /// The server has enough to do: it may serve the connections that it has, but no further one.
  static let overloaded: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
}
