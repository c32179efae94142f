/// A digest that a file must have.
public struct ExpectedDigest: Hashable, Sendable, Codable {
  /// The algorithm.
  public var algorithm: DigestAlgorithm
  /// Lower-case hexadecimal digits.
  public var hex: String

  /// A digest that a file must have; upper-case digits are accepted.
  public init(algorithm: DigestAlgorithm, hex: String) {
    self.algorithm = algorithm
    self.hex = hex.lowercased()
  }
}
