import Testing
import TransferAPI

@testable import transferctl

@Suite struct ChecksumListTests {
  static let sha256 = String(repeating: "ab", count: 32)
  static let sha512 = String(repeating: "cd", count: 64)
  static let sha1 = String(repeating: "ef", count: 20)
  static let md5 = String(repeating: "01", count: 16)

  private func list(_ text: String) throws -> ChecksumList { try ChecksumList(Array(text.utf8), source: "SUMS") }

  @Test(
    "the forms of GNU and BSD",
    arguments: [
      ("\(sha256)  a.iso", "sha-256=\(sha256)"), ("\(sha256) *a.iso", "sha-256=\(sha256)"),
      ("\(sha256.uppercased())  a.iso\r", "sha-256=\(sha256)"), ("\(sha512)  ./a.iso", "sha-512=\(sha512)"),
      ("\(sha1)  a.iso", "sha-1=\(sha1)"), ("\(md5)  a.iso", "md5=\(md5)"), ("\u{FEFF}\(md5)  a.iso", "md5=\(md5)"),
      ("SHA256 (a.iso) = \(sha256)", "sha-256=\(sha256)"), ("SHA512 (a.iso) = \(sha512)", "sha-512=\(sha512)"),
      ("SHA1 (a.iso) = \(sha1)", "sha-1=\(sha1)"), ("MD5 (a.iso) = \(md5)", "md5=\(md5)"),
      ("SHA2-256(a.iso)= \(sha256)", "sha-256=\(sha256)"), ("# note\n\n\(md5)  a.iso\n", "md5=\(md5)"),
      ("\(md5)  a.iso\nSHA256 (a.iso) = \(sha256)\n\(sha1)  a.iso", "sha-256=\(sha256)"),
      ("BLAKE2b (a.iso) = \(sha512)\nSIZE (a.iso) = 12 bytes\nMD5 (a.iso) = \(md5)", "md5=\(md5)"),
      (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\(md5)  a.iso\n-----BEGIN PGP SIGNATURE-----\n\nxyz\n",
        "md5=\(md5)"
      ),
    ])
  func forms(_ text: String, _ checksum: String) throws {
    #expect(try list(text)[url: "http://h/x/a.iso?y"]?.description == checksum)
  }

  @Test(
    "names may have blanks, parentheses and escapes",
    arguments: [
      ("\(md5)   a b ", "http://h/%20a%20b%20"), ("MD5 (a (1) = b.txt) = \(md5)", "http://h/a%20(1)%20=%20b.txt"),
      ("\\\(md5)  a\\nb\\\\c", "http://h/a%0Ab%5Cc"), ("\\MD5 (a\\nb) = \(md5)", "http://h/a%0Ab"),
      ("\(md5)  a\\nb", "http://h/a%5Cnb"), ("\(md5)  ü", "http://h/%C3%BC"),
    ])
  func names(_ text: String, _ url: String) throws {
    #expect(try list(text)[url: url] != nil)
  }

  @Test("a file is found by its name or by the end of its path, the longest first")
  func paths() throws {
    let other = String(repeating: "23", count: 16)
    let list = try list("\(Self.md5)  a.iso\n\(other)  ./amd64/a.iso\n\(other)  only/here.iso\n")
    #expect(list[url: "http://h/arm/a.iso"]?.hex == Self.md5)
    #expect(list[url: "http://h/p/amd64/a.iso"]?.hex == other)
    #expect(list[url: "http://h/amd64/../a.iso"]?.hex == Self.md5)
    #expect(list[url: "http://h/here.iso"] == nil && list[url: "http://h/"] == nil && list[url: "http://h"] == nil)
    #expect(list[url: "http://h/only/here.iso"] != nil && list[url: "http://h/A.ISO"] == nil)
  }

  @Test(
    "what is no list of checksums is refused, with its line",
    arguments: [
      ("<html>\n", "line 1"), ("\(md5)  a\nnot found\n", "line 2"), ("\(md5) a\n", "line 1"),
      ("\(md5)x  a\n", "line 1"),
      ("SHA256 (a) = \(md5)\n", "line 1"), ("\(md5)  \n", "line 1"), ("\\\(md5)  a\\t\n", "line 1"),
      ("\(md5)  a\n\(String(repeating: "77", count: 16))  a\n", "line 2"), ("", "no checksum"),
      ("# nothing\n", "no checksum"),
      ("SHA384 (a) = 00\n", "no checksum"),
    ])
  func faults(_ text: String, _ place: String) {
    let error = #expect(throws: WireError.self) { try list(text) }
    #expect(error?.description.hasPrefix("SUMS") ?? false && error?.description.contains(place) ?? false, "\(text)")
  }

  @Test("a URL without a checksum is left out, and the others are added; a job's own checksum counts")
  func missing() throws {
    var defaults = JobDefaults(directory: "/d")
    defaults.checksums = try list("\(Self.md5)  a\n")
    var lines = JobLines()
    try lines.add(argument: "http://h/b", defaults)
    let text = "http://h/a\nhttp://h/c\n{\"url\":\"http://h/d\",\"checksum\":\"sha-1=\(Self.sha1)\"}\n"
    try lines.add(file: listFile(Array(text.utf8)), defaults)
    #expect(lines.origins == [.line(1), .line(3)])
    #expect(lines.faults.map(\.origin) == [.argument("http://h/b"), .line(2)])
    #expect(
      lines.faults.allSatisfy { $0.isOfFile && $0.status == .usage && $0.message.contains("SUMS has no checksum") })
    #expect(throws: Never.self) { try lines.requireFaultless() }
    #expect(defaults.listOptions == nil)
  }
}
