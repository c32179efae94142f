import Testing

@testable import TransferEngine

@Suite struct RequestURLTests {
  @Test(
    "a URL is parsed into the origin and the text that libcurl uses",
    arguments: [
      ("https://Host.Test/a/b?c=d#e", "https://host.test:443", "https://Host.Test/a/b?c=d"),
      ("http://h:8080", "http://h:8080", "http://h:8080/"),
      ("http://[::1]:81/x", "http://[::1]:81", "http://[::1]:81/x"),
      ("http://u:p@h/x", "http://h:80", "http://h/x"), ("ftp://u:p@h/a/b", "ftp://h:21", "ftp://h/a/b"),
      ("ftps://h/a", "ftps://h:990", "ftps://h/a"), ("ftpes://h:2121/a", "ftpes://h:2121", "ftpes://h:2121/a"),
      ("ftpes://u:p@h/a", "ftpes://h:21", "ftpes://h/a"), ("sftp://u@h/~/a", "sftp://h:22", "sftp://h/~/a"),
      ("scp://h:2222/a", "scp://h:2222", "scp://h:2222/a"), ("file:///etc/passwd", "file://", "file:///etc/passwd"),
    ])
  func parts(_ text: String, _ origin: String, _ string: String) throws {
    let url = try RequestURL(text)
    #expect(url.origin == origin)
    #expect(url.string.lowercased() == string.lowercased())
  }

  @Test(
    "libcurl gets a query in ASCII",
    arguments: [
      ("http://h/x?q=é%20+&b=[1]", "http://h/x?q=%C3%A9%20+&b=[1]"), ("https://h/é?a", "https://h/é?a"),
      ("http://h/x?a=%C3%A9", "http://h/x?a=%C3%A9"), ("ftpes://h/é", "ftp://h/é"), ("sftp://h/é", "sftp://h/é"),
    ])
  func query(_ text: String, _ expected: String) throws {
    #expect(try RequestURL(text).wireString == expected)
  }

  @Test("userinfo is decoded and kept apart")
  func credentials() throws {
    let url = try RequestURL("http://us%40er:p%3Aw@h/x")
    #expect(url.credentials == Credentials(username: "us@er", password: "p:w"))
    #expect(!"\(url)".contains("p%3Aw"))
    #expect(!"\(String(describing: url.credentials))".contains("p:w"))
  }

  @Test(
    "an invalid URL is refused",
    arguments: [
      "", "host/path", "http://", "http:///x", "http://h/a b", "http://h/\n", "http://h/\u{0}x", "http://h:99999/",
      "http://h:x/", "//h/x", "http://h\r\nX: y/", "ftp:///x", "sftp:///x", "file://elsewhere/x",
      "ftp://h/a%0d%0aDELE%20b",
      "ftp://h/a%0ab", "ftp://h/a%00b", "sftp://h/a%00b", "ftp://h/a;type=a", "ftp://h/;type=d", "ftp://h/a%zz",
    ])
  func invalid(_ text: String) {
    #expect(throws: TransferError.self) { try RequestURL(text) }
  }

  @Test(
    "unsupported schemes are refused",
    arguments: ["gopher://h/", "dict://h/", "smb://h/x", "ldap://h/x", "tftp://h/x", "telnet://h/"])
  func schemes(_ text: String) {
    #expect { try RequestURL(text) } throws: { error in
      if case .unsupportedScheme? = error as? TransferError { true } else { false }
    }
  }

  @Test(
    "a Location with a relative file path is refused: libcurl would write another URL",
    arguments: ["file:a/b", "file:o/\u{FFFD}=/a"])
  func relativeFilePath(_ location: String) throws {
    let base = try RequestURL("https://h/a")
    #expect(throws: TransferError.self) { try base.resolving(location) }
  }

  @Test(
    "a Location with a control character in its host is refused: libcurl encodes none there",
    arguments: ["//h\u{8F}x/a", "https://h\u{9F}/", "//h\u{7F}/", "//\u{80}:1/"])
  func controlCharacterInHost(_ location: String) throws {
    let base = try RequestURL("https://h/a")
    #expect(throws: TransferError.self) { try base.resolving(location) }
  }

  @Test("a file URL without a path is refused", arguments: ["file:///?a", "file:///?", "file://?a", "file:///#a"])
  func fileWithoutPath(_ text: String) throws {
    #expect(throws: TransferError.self) { try RequestURL(text) }
    let base = try RequestURL("https://h/a")
    #expect(throws: TransferError.self) { try base.resolving(text) }
    #expect(try RequestURL("file:///a?b").string.hasPrefix("file:///a"))
  }

  @Test(
    "a host that is an IPv4 address only after it was decoded is refused",
    arguments: ["http://213074%33/", "https://user:pw@213074%33:8/a?b", "http://%31/"])
  func encodedAddress(_ text: String) throws {
    #expect(throws: TransferError.self) { try RequestURL(text) }
    let base = try RequestURL("https://h/a")
    #expect(throws: TransferError.self) { try base.resolving(text) }
    #expect(try RequestURL("http://2130743/").host == "0.32.131.55")
    #expect(try RequestURL("http://%68/%41").host == "h")
  }

  @Test("an error shows no secrets")
  func errors() {
    do {
      _ = try RequestURL("http://user:hunter2@h/a b?token=hunter2")
      Issue.record("accepted")
    } catch {
      #expect(!"\(error)".contains("hunter2"))
    }
  }
}
