/// Whether `ftp:` connections use TLS by `AUTH TLS` (RFC 4217), for their data connections too.
public enum FTPSecurity: String, Sendable, Hashable, Codable {
  /// Plain text, including the password.
  case none
  /// TLS if the server offers it, otherwise plain text: no protection against an attacker on the network.
  case ifAvailable
  /// TLS, or the transfer fails.
  case required
}
