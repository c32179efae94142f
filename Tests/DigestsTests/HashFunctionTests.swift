import Digests
import Testing

/// Vectors of FIPS 180-4 (https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values) and of
/// RFC 1321 §A.5.
@Suite struct HashFunctionTests {
  static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

  @Test(
    "known digests",
    arguments: [
      (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
      (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
      (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
      (.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
      (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.sha1, twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
      (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha256, twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
      (
        .sha512, "",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
          + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
      ),
      (
        .sha512, "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ] as [(HashFunction, String, String)])
  func known(_ function: HashFunction, _ text: String, _ digest: String) {
    #expect(function.digest(of: text.utf8).hex == digest)
    #expect(digest.utf8.count == 2 * function.byteCount)
  }

  @Test("a million times the letter a, in pieces of every length")
  func million() {
    var hash = IncrementalHash(.sha256)
    var (left, length) = (1_000_000, 0)
    while left > 0 {
      let piece = [UInt8](repeating: UInt8(ascii: "a"), count: min(left, length))
      hash.update(piece)
      left -= piece.count
      length += 1
    }
    #expect(hash.finalize().hex == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("pieces without contiguous storage count, too", arguments: HashFunction.allCases)
  func lazySequence(_ function: HashFunction) {
    let bytes = (0..<1000).lazy.map { UInt8(truncatingIfNeeded: $0) }
    #expect(function.digest(of: bytes) == function.digest(of: Array(bytes)))
  }

  @Test("a copy continues on its own, and a finalized hash can be continued", arguments: HashFunction.allCases)
  func copies(_ function: HashFunction) {
    var first = IncrementalHash(function)
    first.update("ab".utf8)
    var second = first
    second.update("x".utf8)
    #expect(first.finalize() == function.digest(of: "ab".utf8))
    first.update("c".utf8)
    #expect(first.finalize() == function.digest(of: "abc".utf8))
    #expect(first.finalize() == function.digest(of: "abc".utf8))
    #expect(second.finalize() == function.digest(of: "abx".utf8))
  }

  @Test("tasks that continue copies of one hash do not disturb each other")
  func tasks() async {
    var common = IncrementalHash(.sha256)
    common.update("common".utf8)
    let shared = common
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          var own = shared
          for _ in 0..<100 { own.update([UInt8(number)]) }
          let expected = Array("common".utf8) + [UInt8](repeating: UInt8(number), count: 100)
          #expect(own.finalize() == HashFunction.sha256.digest(of: expected))
        }
      }
    }
  }
}
