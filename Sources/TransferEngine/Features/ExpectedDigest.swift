/// The digest algorithms that are understood, for a digest the user demands or one the server declares.
public enum DigestAlgorithm: String, Sendable, Codable, CaseIterable {
  /// SHA-256 (FIPS 180-4), 64 hexadecimal digits.
  case sha256 = "sha-256"
  /// SHA-512 (FIPS 180-4), 128 hexadecimal digits.
  case sha512 = "sha-512"
  /// SHA-1, 40 hexadecimal digits. It shows accidents, not attacks.
  case sha1 = "sha-1"
  /// MD5 (RFC 1321), 32 hexadecimal digits. It shows accidents, not attacks.
  case md5
}

/// A digest that the finished file must have.
public struct ExpectedDigest: Hashable, Sendable, Codable {
  /// How it was computed.
  public var algorithm: DigestAlgorithm
  /// Lower-case hexadecimal.
  public var hex: String

  /// A digest that a file must have. `nil` where the text is not that many hexadecimal digits; their case does not
  /// matter.
  public init(algorithm: DigestAlgorithm, hex: String) {
    self.algorithm = algorithm
    self.hex = hex.lowercased()
  }
}
