/// The supported digest algorithms, for digests that a user demands or a server declares.
public enum DigestAlgorithm: String, Sendable, Codable, CaseIterable {
  /// SHA-256 (FIPS 180-4), 64 hexadecimal digits.
  case sha256 = "sha-256"
  /// SHA-512 (FIPS 180-4), 128 hexadecimal digits.
  case sha512 = "sha-512"
  /// SHA-1, 40 hexadecimal digits. It detects accidents, not attacks.
  case sha1 = "sha-1"
  /// MD5 (RFC 1321), 32 hexadecimal digits. It detects accidents, not attacks.
  case md5

  /// The bytes of a digest.
  public var size: Int {
    switch self {
    case .sha256: 32
    case .sha512: 64
    case .sha1: 20
    case .md5: 16
    }
  }
}
