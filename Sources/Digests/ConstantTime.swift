import CCrypto

/// Whether the bytes are equal. The time depends on their count only, not on where they differ (CRYPTO_memcmp(3)).
public func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
  guard first.count == second.count else { return false }
  _ = CryptoLibrary.context  // Loads the library.
  return crypto_compare(first, second, first.count) == 0
}
