import TestSupport
import Testing

@testable import TransferEngine

@Suite struct SafeFileNameTests {
  @Test(
    "a URL's last segment is decoded, then split",
    arguments: [
      ("/a/b.iso", "b.iso"), ("/a%20b.txt", "a b.txt"), ("/", nil), ("/dir/", nil), ("", nil),
      ("/x/..%2f..%2fetc%2fpasswd", "passwd"), ("/%2e%2e", nil), ("/..", nil), ("/.", nil),
      ("/a%2Fb", "b"), ("/a%5Cb", "b"), ("/%00", nil), ("/a%0Ab", "ab"), ("/.bashrc", "_bashrc"), ("/-rf", "_rf"),
      ("/name.", "name"), ("/%20name%20", "name"), ("/%ff%fe", "%ff%fe"), ("/100%", "100%"), ("/caf%C3%A9", "café"),
      ("/CON", "CON"),
    ] as [(String, String?)])
  func urlPath(_ path: String, _ expected: String?) {
    #expect(SafeFileName(urlPath: path)?.string == expected)
  }

  @Test(
    "a file name from Content-Disposition contains no path",
    arguments: [
      ("attachment; filename=\"a.txt\"", "a.txt"), ("attachment; filename=a.txt", "a.txt"),
      ("attachment; filename=\"../../x\"", "x"), ("attachment; filename=\"/etc/passwd\"", "passwd"),
      ("attachment; filename=\"..%2fx\"", "x"), ("attachment; filename=\"%2e%2e/\"", nil),
      ("attachment; filename=\"a\\\\..\\\\b\"", "b"), ("attachment; filename*=UTF-8''%2Fetc%2Fx", "x"),
      ("attachment; filename=\"plain\"; filename*=UTF-8''caf%C3%A9", "café"),
      ("attachment; filename*=UTF-8''%2E%2E; filename=\"b\"", "b"), ("attachment; filename=\"\"", nil),
      ("attachment; filename=\".\"", nil), ("attachment; filename=\"..\"", nil), ("attachment", nil),
      ("attachment; filename=\"a\u{7}b\"", "ab"), ("attachment; filename=\"-rf\"", "_rf"),
      ("attachment; filename=\".bashrc\"", "_bashrc"), ("attachment; filename=\"a;b.txt\"", "a;b.txt"),
      ("attachment; FILENAME=\"x\"", "x"), ("attachment; filename=\"evil\u{202E}txt.exe\"", "eviltxt.exe"),
    ] as [(String, String?)])
  func contentDisposition(_ value: String, _ expected: String?) {
    #expect(SafeFileName(contentDisposition: value)?.string == expected)
  }

  @Test("a name of 300 bytes is shortened to 255 and keeps its extension")
  func long() throws {
    let name = try #require(SafeFileName(suggested: String(repeating: "é", count: 150) + ".iso")).string
    #expect(name.utf8.count <= 255)
    #expect(name.hasSuffix("é.iso"))
    let partial = SafeFileName.partial(for: name, token: "01234567")
    #expect((partial + ".new").utf8.count <= 255)
    #expect(partial.hasPrefix(".") && partial.hasSuffix(".01234567.part"))
  }

  @Test("a name is shortened between Unicode scalars, also inside a composed character")
  func scalars() throws {
    // One character of 96 KB: a letter and its combining marks.
    let marks = "e" + String(repeating: "\u{301}", count: 48 << 10)
    let name = try #require(SafeFileName(suggested: marks)).string
    #expect(name.utf8.count == 255 && name.unicodeScalars.starts(with: "e\u{301}\u{301}".unicodeScalars))
    let flags = try #require(SafeFileName(suggested: String(repeating: "\u{1F1E6}", count: 24 << 10) + ".txt")).string
    #expect(flags.utf8.count == 252 && flags.utf8.reversed().starts(with: "\u{1F1E6}.txt".utf8.reversed()))
    let part = SafeFileName.partial(for: marks, token: "01234567")
    #expect(part.utf8.count == 250 && part.unicodeScalars.starts(with: ".e\u{301}".unicodeScalars))
  }

  @Test(
    "long suggested names are processed in linear time",
    arguments: [
      String(repeating: "a", count: 96 << 10), String(repeating: " ", count: 96 << 10) + "a",
      "a" + String(repeating: ".", count: 96 << 10), String(repeating: "a.", count: 48 << 10),
      String(repeating: "a/", count: 48 << 10), String(repeating: "\u{301}", count: 48 << 10),
      String(repeating: "%41", count: 32 << 10), "a." + String(repeating: "b", count: 96 << 10),
    ])
  func linear(_ text: String) throws {
    var name: SafeFileName?
    let time = ThreadTime.measure { name = SafeFileName(suggested: text) }
    #expect(name.map { !$0.string.isEmpty && $0.string.utf8.count <= 255 } ?? true)
    // A former implementation took 15 s for this length.
    #expect(time < .seconds(2))
    #expect(SafeFileName(contentDisposition: "attachment; filename=\"\(text)\"") == nil, "a field of 96 KB is not read")
  }

  @Test(
    "an invalid name given by the user is refused, not changed",
    arguments: ["", ".", "..", "a/b", "a\0b", String(repeating: "x", count: 256)])
  func check(_ name: String) {
    #expect(throws: TransferError.self) { try SafeFileName.check(name) }
  }

  @Test(
    "a name given by the user can start with a dot or a hyphen",
    arguments: [".bashrc", "-rf", "a b", String(repeating: "x", count: 255)])
  func accepted(_ name: String) throws {
    try SafeFileName.check(name)
  }
}
