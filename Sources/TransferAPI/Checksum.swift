/// The digest that a download must have: `ALG=HEX`.
public struct Checksum: Equatable, Sendable, CustomStringConvertible {
  public enum Algorithm: String, CaseIterable, Sendable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"
    case sha1 = "sha-1"
    case md5

    /// Length of the digest in bytes.
    public var byteCount: Int {
      switch self {
      case .sha256: 32
      case .sha512: 64
      case .sha1: 20
      case .md5: 16
      }
    }
  }

  public let algorithm: Algorithm
  /// Lower case.
  public let hex: String

  /// - Throws: `WireError` that says what is wrong with the text.
  public init(parsing text: String) throws(WireError) {
    guard let equals = text.firstIndex(of: "=") else {
      throw WireError("\"\(text)\" is not ALG=HEX, like sha-256=9f86d0…")
    }
    let name = text[..<equals].lowercased()
    let algorithm: Algorithm
    switch name {
    case "sha-256", "sha256": algorithm = .sha256
    case "sha-512", "sha512": algorithm = .sha512
    case "sha-1", "sha1": algorithm = .sha1
    case "md5": algorithm = .md5
    default: throw WireError("unknown checksum algorithm \"\(name)\"; use sha-256, sha-512, sha-1 or md5")
    }
    let hex = text[text.index(after: equals)...].lowercased()
    guard hex.allSatisfy({ $0.isASCII && $0.isHexDigit }), hex.utf8.count == algorithm.byteCount * 2 else {
      throw WireError("a \(algorithm.rawValue) checksum has \(algorithm.byteCount * 2) hexadecimal digits")
    }
    self.algorithm = algorithm
    self.hex = hex
  }

  public var description: String { "\(algorithm.rawValue)=\(hex)" }
}
