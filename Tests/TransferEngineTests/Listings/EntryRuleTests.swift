import Testing

@testable import TransferEngine

/// What is believed of a server's list.
@Suite struct EntryRuleTests {
  private func verdict(_ item: ListedItem, in directory: String = "http://h.test/d/") throws -> String {
    switch EntryRule(directory: try RequestURL(allowingS3: directory)).verdict(on: item) {
    case .entry(let entry): "\(entry.path)\(entry.isDirectory ? "/" : "") \(entry.url)"
    case .none: "none"
    case .refused: "refused"
    }
  }

  @Test(
    "only direct members of the directory, on its origin, with safe names, are entries",
    arguments: [
      ("a", "a http://h.test/d/a"), ("./a", "a http://h.test/d/a"), ("/d/a", "a http://h.test/d/a"),
      ("http://h.test/d/a", "a http://h.test/d/a"), ("//h.test/d/a", "a http://h.test/d/a"),
      ("sub/", "sub/ http://h.test/d/sub/"),
      ("a%20b%25", "a b% http://h.test/d/a%20b%25"), ("a b", "a b http://h.test/d/a%20b"),
      ("ä", "ä http://h.test/d/%C3%A4"),
      ("../", "none"), ("..", "none"), ("/", "none"), ("./", "none"), ("?C=N;O=D", "none"), ("#top", "none"),
      ("", "none"),
      ("/d/?C=N", "none"),
      ("http://h.test:81/d/a", "refused"), ("https://h.test/d/a", "refused"), ("http://other.test/d/a", "refused"),
      ("ftp://h.test/d/a", "refused"), ("mailto:a@b", "refused"), ("javascript:alert(1)", "refused"),
      ("/etc/passwd", "refused"), ("../../etc/passwd", "refused"), ("x/y", "refused"), ("x/../../y", "refused"),
      ("%2e%2e", "refused"), ("..%2fa", "refused"), ("a%2fb", "refused"), ("a%00b", "refused"), ("a%0ab", "refused"),
      ("a%7f", "refused"),
      ("%E2%80%AEgpj", "refused"), ("%ff", "refused"), ("a?x=1", "refused"), ("%", "refused"),
    ])
  func references(_ text: String, _ expected: String) throws {
    #expect(try verdict(.reference(text, isDirectory: nil)) == expected)
  }

  @Test("WebDAV says what is a collection, whatever the slash")
  func collections() throws {
    #expect(try verdict(.reference("/d/sub", isDirectory: true)) == "sub/ http://h.test/d/sub/")
    #expect(try verdict(.reference("/d/file/", isDirectory: false)) == "file http://h.test/d/file")
  }

  @Test(
    "names of file servers are used as they are, or not at all",
    arguments: [
      ("a b", "a b sftp://h.test/d/a%20b"), ("..", "refused"), (".", "refused"), ("", "refused"), ("a/b", "refused"),
      ("/etc", "refused"), ("a\u{1B}[2J", "refused"), ("-rf", "-rf sftp://h.test/d/-rf"),
      (".hidden", ".hidden sftp://h.test/d/.hidden"),
      (String(repeating: "x", count: 256), "refused"), ("a?b#c", "a?b#c sftp://h.test/d/a%3Fb%23c"),
    ])
  func names(_ name: String, _ expected: String) throws {
    #expect(try verdict(.name(Array(name.utf8), isDirectory: false), in: "sftp://h.test/d/") == expected)
  }

  @Test("a name that is not UTF-8 is refused")
  func bytes() throws {
    #expect(try verdict(.name([0x61, 0xFF], isDirectory: false), in: "ftp://h.test/d/") == "refused")
  }

  @Test(
    "keys become paths below the prefix",
    arguments: [
      ("p/a", "a s3://b/p/a"), ("p/x/y z", "x/y z s3://b/p/x/y%20z"), ("p/x/", "none"), ("p/", "none"),
      ("q/a", "refused"),
      ("p/../a", "refused"), ("p//a", "refused"), ("p/a/./b", "refused"),
    ])
  func keys(_ key: String, _ expected: String) throws {
    #expect(try verdict(.key(key), in: "s3://b/p/") == expected)
  }
}
