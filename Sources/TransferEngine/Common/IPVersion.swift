/// A version of the Internet Protocol.
public enum IPVersion: Int, Hashable, Sendable, CaseIterable {
  /// IPv4 (RFC 791).
  case v4 = 4
  /// IPv6 (RFC 8200).
  case v6 = 6
}
