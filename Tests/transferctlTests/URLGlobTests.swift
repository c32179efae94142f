import Testing
import TransferAPI

@testable import transferctl

@Suite struct URLGlobTests {
  private func urls(_ text: String) throws -> [String] {
    let glob = try URLGlob(parsing: text)
    return (0..<glob.count).map { glob.url(at: $0) }
  }

  @Test(
    "ranges and lists name URLs, the last one varying fastest",
    arguments: [
      ("http://h/x", ["http://h/x"]), ("http://h/[1-3]", ["http://h/1", "http://h/2", "http://h/3"]),
      ("http://h/[098-101]", ["http://h/098", "http://h/099", "http://h/100", "http://h/101"]),
      ("http://h/[0-20:10]", ["http://h/0", "http://h/10", "http://h/20"]),
      ("http://h/[0-25:10]", ["http://h/0", "http://h/10", "http://h/20"]),
      ("http://h/[a-c]", ["http://h/a", "http://h/b", "http://h/c"]),
      ("http://h/[A-E:2]", ["http://h/A", "http://h/C", "http://h/E"]), ("http://h/[7-7]", ["http://h/7"]),
      ("http://h/{a,b}[1-2]", ["http://h/a1", "http://h/a2", "http://h/b1", "http://h/b2"]),
      ("http://h/x{,.sig}", ["http://h/x", "http://h/x.sig"]), ("http://h/{a}", ["http://h/a"]),
      ("{http,ftp}://h/", ["http://h/", "ftp://h/"]), ("http://[1-2].h/", ["http://1.h/", "http://2.h/"]),
      ("http://h/\\[1\\]\\{a\\,b\\}\\x", ["http://h/[1]{a,b}\\x"]),
      ("http://h/{a\\,b,c}", ["http://h/a,b", "http://h/c"]),
      ("http://h/a,b", ["http://h/a,b"]),
    ])
  func expansion(_ text: String, _ urls: [String]) throws {
    #expect(try self.urls(text) == urls)
  }

  @Test(
    "the brackets of an IPv6 host are literal",
    arguments: [
      ("http://[::1]/[1-2]", ["http://[::1]/1", "http://[::1]/2"]),
      (
        "http://u:p@[fe80::1%25eth-0]:80/{a,b}",
        ["http://u:p@[fe80::1%25eth-0]:80/a", "http://u:p@[fe80::1%25eth-0]:80/b"]
      ),
      ("{http,https}://[::ffff:1.2.3.4]/x", ["http://[::ffff:1.2.3.4]/x", "https://[::ffff:1.2.3.4]/x"]),
    ])
  func address(_ text: String, _ urls: [String]) throws {
    #expect(try self.urls(text) == urls)
  }

  @Test(
    "what is no range is an error",
    arguments: [
      "http://h/[", "http://h/[1-", "http://h/[]", "http://h/[5]", "http://h/[3-1]", "http://h/[c-a]", "http://h/[a-Z]",
      "http://h/[1-z]", "http://h/[1-3:0]", "http://h/[1-3:-1]", "http://h/[1-3:9]", "http://h/[-1-3]",
      "http://h/[1-2-3]",
      "http://h/]", "http://h/}", "http://h/{", "http://h/{}", "http://h/{a,{b}}", "http://h/{a[1-2]}", "http://h/{a,b",
      "http://h/[::1]", "http://h/[99999999999999999999-9]", "http://h/[1-3:99999999999999999999]",
    ])
  func faults(_ text: String) {
    let error = #expect(throws: WireError.self) { try urls(text) }
    #expect(error?.description.contains("--glob") ?? false)
  }

  @Test("a million URLs are allowed, and one more is not, however large the numbers are")
  func limit() throws {
    #expect(try URLGlob(parsing: "http://h/[1-1000][1-1000]").count == 1_000_000)
    for text in ["[1-1000001]", "[0-9223372036854775807]", "[1-1000][1-1001]", String(repeating: "[0-9]", count: 100)] {
      #expect(throws: URLGlob.tooMany) { try URLGlob(parsing: "http://h/" + text) }
    }
    #expect(try URLGlob(parsing: "http://h/[9223372036854775806-9223372036854775807]").url(at: 1).hasSuffix("5807"))
  }

  @Test("the URLs of a call are counted together, and nothing is expanded beyond the limit")
  func total() throws {
    var defaults = JobDefaults(directory: "/d")
    defaults.globs = true
    var lines = JobLines(.urls)
    try lines.add(argument: "http://h/x", defaults)
    let error = #expect(throws: CommandFailure.self) { try lines.add(argument: "http://h/[1-1000000]", defaults) }
    #expect(error?.status == .usage && lines.count == 1)
    #expect(throws: CommandFailure.self) {
      try lines.add(file: listFile(Array("http://h/[1-999999]\nhttp://h/y\n".utf8)), defaults, format: .urls)
    }
  }

  @Test("a faulty glob is reported once, with its line, and hides no other fault")
  func lines() throws {
    var defaults = JobDefaults(directory: "/d")
    defaults.globs = true
    var lines = JobLines()
    let text = "http://h/[1-2]\nhttp://h/[1-\n{http,ftp}://h/a\ngopher://h/[1-9]\n{\"url\":\"http://h/[1-2]\"}\n"
    try lines.add(file: listFile(Array(text.utf8)), defaults)
    #expect(lines.faults.map(\.origin) == [.line(2), .line(4)])
    #expect(lines.origins == [.line(1), .line(1), .line(3), .line(3), .line(5)])
    let sources = try String(decoding: lines.spool.data, as: UTF8.self)
    #expect(sources.contains("\"source\":\"http://h/[1-2]\""))
  }
}
