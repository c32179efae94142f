/// The digest algorithms that are understood, for a digest the user demands or one the server declares.
public enum DigestAlgorithm: String, Sendable, Codable, CaseIterable {
  case sha256 = "sha-256"
  case sha512 = "sha-512"
  case sha1 = "sha-1"
  case md5
}

/// A digest that the finished file must have.
public struct ExpectedDigest: Hashable, Sendable, Codable {
  public var algorithm: DigestAlgorithm
  /// Lower-case hexadecimal.
  public var hex: String

  public init(algorithm: DigestAlgorithm, hex: String) {
    self.algorithm = algorithm
    self.hex = hex.lowercased()
  }
}
