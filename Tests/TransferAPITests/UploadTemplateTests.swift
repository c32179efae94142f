import Testing

@testable import TransferAPI

@Suite struct UploadTemplateTests {
  static let file = UploadedFile(
    path: "/srv/out/sub/a b#é.csv", relativePath: "sub/a b#é.csv", size: 42, modifiedSeconds: 1_700_000_000,
    modifiedNanoseconds: 5_000_001, sha256: "00ff")

  @Test(
    "a URL gets the file's properties, percent-encoded; a final slash gets the name",
    arguments: [
      ("https://h/in/", "https://h/in/a%20b%23%C3%A9.csv"),
      ("https://h/in/{name}", "https://h/in/a%20b%23%C3%A9.csv"),
      ("https://h/in/{name}?sig=1", "https://h/in/a%20b%23%C3%A9.csv?sig=1"),
      ("https://h/in/?sig=1/", "https://h/in/a%20b%23%C3%A9.csv?sig=1/"),
      ("https://h/{relpath}", "https://h/sub/a%20b%23%C3%A9.csv"),
      ("https://h/{path}", "https://h/srv/out/sub/a%20b%23%C3%A9.csv"),
      ("https://h/{size}/{mtime}/{sha256}", "https://h/42/1700000000.005000001/00ff"),
      ("https://h/in", "https://h/in"), ("https://h/{{x}}", "https://h/{x}"),
      ("s3://bucket", "s3://bucket/a%20b%23%C3%A9.csv"), ("s3://bucket/p/", "s3://bucket/p/a%20b%23%C3%A9.csv"),
      ("s3://bucket/p", "s3://bucket/p"), ("sftp://u@h/back/", "sftp://u@h/back/a%20b%23%C3%A9.csv"),
      ("https://h/\u{301}", "https://h/\u{301}"), ("https://h?a", "https://h/a%20b%23%C3%A9.csv?a"),
      ("https://h/{name}/", "https://h/a%20b%23%C3%A9.csv/a%20b%23%C3%A9.csv"),
      // The name became the server's: a job for sftp://a was added.
      ("sftp://", "sftp://"), ("s3://", "s3://"), ("https://?a=/", "https://?a=/"),
      ("https://h/x://", "https://h/x://a%20b%23%C3%A9.csv"),
    ])
  func urls(_ template: String, _ expected: String) throws {
    #expect(try UploadTemplate(parsing: template).target(for: Self.file).url == expected)
  }

  @Test("the error of a template shows no password", arguments: ["{x}", "{name", "name}"])
  func secrets(_ end: String) {
    let error = #expect(throws: WireError.self) { try UploadTemplate(parsing: "https://u:hidden@h/\(end)") }
    #expect(error?.description.contains("https://h/\(end)") == true)
    #expect(error?.description.contains("hidden") == false)
  }

  @Test(
    "the error of a template shows no field that is a part of a secret",
    arguments: ["https://u:a{hidden}b@h/", "https://h/{name}?token={hidden}"])
  func secretFields(_ template: String) {
    let error = #expect(throws: WireError.self) { try UploadTemplate(parsing: template) }
    #expect(error?.description.contains("unknown field in \"https://h/") == true)
    #expect(error?.description.contains("hidden") == false)
  }

  @Test("if paths are kept, a final slash gets the relative path")
  func keepingPaths() throws {
    let template = try UploadTemplate(parsing: "https://h/in/")
    #expect(template.target(for: Self.file, ending: .path).url == "https://h/in/sub/a%20b%23%C3%A9.csv")
  }

  @Test("a form's URL is unchanged, and the URL before an appended name is known")
  func collections() throws {
    let template = try UploadTemplate(parsing: "https://h/in/?a=1")
    #expect(template.target(for: Self.file, ending: .none).url == "https://h/in/?a=1")
    #expect(template.collection(for: Self.file) == "https://h/in/?a=1")
    #expect(try UploadTemplate(parsing: "https://h").collection(for: Self.file) == "https://h/")
    #expect(try UploadTemplate(parsing: "https://h:8?a=/").collection(for: Self.file) == "https://h:8/?a=/")
    #expect(try UploadTemplate(parsing: "https://h/in").collection(for: Self.file) == nil)
    #expect(try UploadTemplate(parsing: "https://h/{relpath}").collection(for: Self.file) == nil)
  }

  @Test("a key gets the file's properties unescaped, except control characters and percent signs")
  func keys() throws {
    var file = Self.file
    #expect(
      try UploadTemplate(parsing: "{path}:{mtime}").expanded(for: file) == "/srv/out/sub/a b#é.csv:1700000000.005000001"
    )
    file.path = "/a/b\nc"
    #expect(try UploadTemplate(parsing: "x{name}y").expanded(for: file) == "xb%0Acy")
    file.path = "/a/100%0A"
    #expect(try UploadTemplate(parsing: "{path}").expanded(for: file) == "/a/100%250A")
    #expect(try UploadTemplate(parsing: "plain").isConstant)
  }

  @Test("fractions of a second keep their leading zeros")
  func nanoseconds() throws {
    var file = Self.file
    file.modifiedNanoseconds = 0
    #expect(try UploadTemplate(parsing: "{mtime}").expanded(for: file) == "1700000000.000000000")
  }

  @Test("a name without a directory is unchanged")
  func bareName() {
    var file = Self.file
    file.path = "dump.sql"
    #expect(file.name == "dump.sql")
  }

  @Test("invalid templates are refused", arguments: ["{nope}", "{name", "a}b", "{}", "{ name }"])
  func refused(_ text: String) {
    #expect(throws: WireError.self) { try UploadTemplate(parsing: text) }
  }
}
