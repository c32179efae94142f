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

/// The algorithms, fetched once from a library context of our own.
///
/// The default context depends on `openssl.cnf`, which may allow approved algorithms only, and `exit(3)` frees it while
/// other threads may still compute a digest. This context always has MD5 and is never freed (OSSL_LIB_CTX(3)).
enum Library {
  nonisolated(unsafe) static let context: OpaquePointer = {
    guard let context = crypto_context_new() else { fatalError("cannot set up libcrypto: out of memory") }
    return context
  }()

  static func algorithm(_ function: HashFunction) -> OpaquePointer {
    switch function {
    case .md5: md5
    case .sha1: sha1
    case .sha256: sha256
    case .sha512: sha512
    }
  }

  // `EVP_MD` is immutable and safe to share between threads.
  nonisolated(unsafe) private static let md5 = fetch(.md5)
  nonisolated(unsafe) private static let sha1 = fetch(.sha1)
  nonisolated(unsafe) private static let sha256 = fetch(.sha256)
  nonisolated(unsafe) private static let sha512 = fetch(.sha512)

  private static func fetch(_ function: HashFunction) -> OpaquePointer {
    guard let algorithm = crypto_fetch(context, function.rawValue) else {
      fatalError("cannot use \(function.rawValue): this libcrypto does not have it")
    }
    return algorithm
  }
}
