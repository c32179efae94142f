import Digests
import Testing

/// Vectors of RFC 4231 §4 (SHA-256, SHA-512) and RFC 2202 §2 and §3 (MD5, SHA-1).
@Suite struct HMACTests {
  static let longKey = [UInt8](repeating: 0xaa, count: 131)

  @Test(
    "known authentication codes",
    arguments: [
      (
        .sha256, [UInt8](repeating: 0x0b, count: 20), "Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        .sha256, Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        .sha256, longKey, "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      (
        .sha256, longKey,
        "This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
      ),
      (
        .sha512, Array("Jefe".utf8), "what do ya want for nothing?",
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
          + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
      ),
      (.sha1, [UInt8](repeating: 0x0b, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
      (.sha1, Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
      (.md5, [UInt8](repeating: 0x0b, count: 16), "Hi There", "9294727a3638bb1c13f48ef8158bfc9d"),
      (.md5, Array("Jefe".utf8), "what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"),
    ] as [(HashFunction, [UInt8], String, String)])
  func known(_ function: HashFunction, _ key: [UInt8], _ message: String, _ code: String) {
    #expect(HMAC.authenticationCode(for: message.utf8, key: key, using: function).hex == code)
  }

  /// Computed with Python's `hmac`.
  @Test("an empty key and an empty message")
  func empty() {
    #expect(
      HMAC.authenticationCode(for: [], key: [], using: .sha256).hex
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("only the whole, right code is valid", arguments: HashFunction.allCases)
  func valid(_ function: HashFunction) {
    let (key, message) = (Array("key".utf8), Array("message".utf8))
    let code = HMAC.authenticationCode(for: message, key: key, using: function)
    #expect(HMAC.isValid(code, for: message, key: key, using: function))
    #expect(!HMAC.isValid(code.dropLast(), for: message, key: key, using: function))
    #expect(!HMAC.isValid([], for: message, key: key, using: function))
    #expect(!HMAC.isValid(code, for: message + [0], key: key, using: function))
    for index in code.indices {
      var wrong = code
      wrong[index] ^= 1
      #expect(!HMAC.isValid(wrong, for: message, key: key, using: function))
    }
  }

  @Test("bytes are equal when count and content are equal")
  func constantTime() {
    #expect(constantTimeEqual([], []))
    #expect(constantTimeEqual([1, 2], [1, 2]))
    #expect(!constantTimeEqual([1, 2], [1, 3]))
    #expect(!constantTimeEqual([1, 2], [1]))
  }
}
