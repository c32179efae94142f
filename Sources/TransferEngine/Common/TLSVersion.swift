/// Versions of TLS that are secure; older ones are not offered (RFC 8996).
public enum TLSVersion: Sendable, Comparable {
  /// TLS 1.2 (RFC 5246).
  case v1_2
  /// TLS 1.3 (RFC 8446).
  case v1_3
}
