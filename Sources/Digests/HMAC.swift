import CCrypto

/// Message authentication by a keyed hash (RFC 2104).
public enum HMAC {
  /// The authentication code of a message, `function.byteCount` bytes.
  /// - Parameter key: of any length, also empty.
  public static func authenticationCode(
    for message: some Sequence<UInt8>, key: some Sequence<UInt8>, using function: HashFunction
  ) -> [UInt8] {
    // An empty array may have no address, and OpenSSL interprets a null key as "the same key as before".
    let (message, key) = (Array(message), Array(key))
    let secret = key.isEmpty ? [0] : key
    return [UInt8](unsafeUninitializedCapacity: function.byteCount) { buffer, count in
      let isDone = crypto_hmac(
        CryptoLibrary.context, function.rawValue, secret, key.count, message, message.count, buffer.baseAddress,
        buffer.count, &count)
      // Only out of memory, as in `IncrementalHash`.
      guard isDone == 1 else { fatalError("cannot compute an authentication code: out of memory") }
    }
  }

  /// Whether this is the authentication code of the message. The time does not reveal how many of its bytes are right.
  public static func isValid(
    _ code: some Sequence<UInt8>, for message: some Sequence<UInt8>, key: some Sequence<UInt8>,
    using function: HashFunction
  ) -> Bool {
    constantTimeEqual(Array(code), authenticationCode(for: message, key: key, using: function))
  }
}
