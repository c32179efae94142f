import CCrypto

/// OpenSSL's libcrypto, which is loaded when the first digest is computed.
public enum CryptoLibrary {
  /// The reason why no digest can be computed; `nil` if the library is loaded. The first call loads it.
  ///
  /// Every other call needs the library and stops the program if it cannot be loaded. A program that must continue
  /// without the library checks this value first.
  public static var problem: String? { crypto_load().map { String(cString: $0) } }

  /// Our own context, with the algorithms below.
  ///
  /// The default context depends on `openssl.cnf`, which may allow approved algorithms only, and `exit(3)` frees it while
  /// other threads may still compute a digest. This context always has MD5 and is never freed (OSSL_LIB_CTX(3)).
  ///
  /// `nonisolated(unsafe)`: OpenSSL lets threads share a context; Swift cannot know that of a pointer.
  nonisolated(unsafe) static let context: OpaquePointer = {
    guard let context = crypto_context_new() else {
      // A caller that can do without digests has asked for `problem` before.
      fatalError("cannot set up libcrypto: \(problem ?? "out of memory")")
    }
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

  // `nonisolated(unsafe)`: an `EVP_MD` is immutable, and threads may share it.
  nonisolated(unsafe) private static let md5 = fetch(.md5)
  nonisolated(unsafe) private static let sha1 = fetch(.sha1)
  nonisolated(unsafe) private static let sha256 = fetch(.sha256)
  nonisolated(unsafe) private static let sha512 = fetch(.sha512)

  private static func fetch(_ function: HashFunction) -> OpaquePointer {
    guard let algorithm = crypto_fetch(context, function.rawValue) else {
      // Every libcrypto has the four; a digest cannot be replaced by another one.
      fatalError("cannot use \(function.rawValue): this libcrypto does not have it")
    }
    return algorithm
  }
}
