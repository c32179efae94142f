import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct DeclaredDigestsTests {
  private static let empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
  private static let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  private func digests(_ status: Int, _ name: String, _ value: String) throws -> [ExpectedDigest] {
    var head = ResponseHead(status: status)
    head.headers[try #require(HTTPField.Name(name))] = value
    return DeclaredDigests.of(head)
  }

  @Test("Repr-Digest describes the whole file in every response")
  func reprDigest() throws {
    let expected = [ExpectedDigest(algorithm: .sha256, hex: Self.hex)]
    #expect(try digests(200, "Repr-Digest", "sha-256=:\(Self.empty):") == expected)
    #expect(try digests(206, "Repr-Digest", "unixsum=:1:, sha-256=:\(Self.empty):") == expected)
  }

  @Test("other digest fields are used only in a 200 response")
  func others() throws {
    #expect(try digests(200, "Digest", "SHA-256=\(Self.empty)").map(\.hex) == [Self.hex])
    #expect(try digests(206, "Digest", "SHA-256=\(Self.empty)").isEmpty)
    #expect(
      try digests(200, "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==").map(\.hex) == ["d41d8cd98f00b204e9800998ecf8427e"])
    #expect(try digests(200, "x-amz-checksum-sha256", Self.empty).map(\.hex) == [Self.hex])
  }

  @Test(
    "a digest field that cannot be parsed is ignored",
    arguments: [
      ("Repr-Digest", "sha-256=:AAAA:"), ("Repr-Digest", "sha-256=\(empty)"), ("x-amz-checksum-sha256", "\(empty)-3"),
      ("Content-MD5", "garbage"), ("Digest", "sha-256"),
    ])
  func unreadable(_ name: String, _ value: String) throws {
    #expect(try digests(200, name, value).isEmpty)
  }

  @Test("a digest of a compressed body is ignored")
  func encoded() throws {
    var head = ResponseHead(status: 200)
    head.headers[try #require(HTTPField.Name("Repr-Digest"))] = "sha-256=:\(Self.empty):"
    head.headers[.contentEncoding] = "gzip"
    #expect(DeclaredDigests.of(head).isEmpty)
  }
}
