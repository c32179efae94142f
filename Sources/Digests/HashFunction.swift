import CCrypto

/// A hash function of OpenSSL's libcrypto.
public enum HashFunction: String, Sendable, CaseIterable {
  /// RFC 1321. It detects accidents, not attacks.
  case md5 = "MD5"
  /// FIPS 180-4. It detects accidents, not attacks.
  case sha1 = "SHA1"
  /// FIPS 180-4.
  case sha256 = "SHA256"
  /// FIPS 180-4.
  case sha512 = "SHA512"

  /// Length of a digest in bytes.
  public var byteCount: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }

  /// The digest of bytes in memory.
  public func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
    var hash = IncrementalHash(self)
    hash.update(bytes)
    return hash.finalize()
  }
}
