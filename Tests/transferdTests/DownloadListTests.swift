import Store
import Testing
import TransferAPI

@testable import transferd

@Suite struct DownloadListTests {
  private func template(_ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
    var job = NewJob(source: "")
    job.directory = "/d"
    change(&job)
    return job
  }

  private func list(_ job: NewJob) throws(Problem) -> DownloadList {
    try DownloadList(job, JobValidation(), NetworkRules())
  }

  private func spec(_ list: inout DownloadList, _ url: String) -> Result<JobSpec, Problem> {
    Array(url.utf8).withUnsafeBytes { list.spec($0) }
  }

  private func alone(_ url: String, _ job: NewJob) -> Result<JobSpec, Problem> {
    var job = job
    job.source = url
    return Result { () throws(Problem) in try JobValidation().spec(job) }
  }

  static let paths = [
    "/a", "/a/b.iso", "/", "", "/a/", "/.a", "/a/.b", "/./a", "/../a", "/a/../b", "/a%20b", "/a?b", "/a#b", "/a.",
    "/-a", "/~a", "/a b", "/a\\b", "/a//b", "//a", "/ä", "/a;b", "/a=b", "/a@b", "/a:b", "/a,b+c", "/a'b", "/a(b)",
    "/a!b$c&d*e", "/%2e%2e", "/a%2fb", "/\u{1}", "/a|b", "/a\"b", "/a<b>", "/a[b]", "/a{b}", "/a^b", "/a`b",
    "/" + String(repeating: "x", count: 255), "/" + String(repeating: "x", count: 256),
  ]

  static let servers = [
    "http://h.test", "https://h.test:8443", "HTTP://H.test", "http://u:p@h.test", "http://127.0.0.1:8080",
    "http://[::1]",
    "http://h.test:80", "ftp://h.test", "http://h_x.test", "http://é.test", "http://h.test:", "http://h.test:0",
    "http://h.test:99999", "nope", "http://", "http:///x", "http://0x7f.1", "http://h.test.",
  ]

  @Test("a URL of a list gives the same job as the URL alone", arguments: servers)
  func equality(_ server: String) throws {
    for change in Self.changes {
      let job = template(change)
      var list = try list(job)
      // Twice, so that each URL also follows others of its server.
      for path in Self.paths + Self.paths.reversed() {
        let url = server + path
        #expect(spec(&list, url) == alone(url, job), "\(url)")
      }
    }
  }

  static let changes: [@Sendable (inout NewJob) -> Void] = [
    { _ in }, { $0.options.download.nameFromResponse = true }, { $0.directory = "/" },
    {
      $0.directory = "/d//e/"
      $0.batch = "b"
      $0.priority = 7
      $0.paused = true
      $0.options.userAgent = "x"
      $0.options.download.replace = true
    },
  ]

  @Test("servers that take turns give the same jobs")
  func turns() throws {
    let job = template()
    var list = try list(job)
    for number in 0..<2000 {
      let url = "http://h\(number % 300).test/f\(number)"
      #expect(spec(&list, url) == alone(url, job))
    }
  }

  @Test(
    "options that are wrong for every URL are refused before any line",
    arguments: [
      { $0.directory = nil }, { $0.directory = "d" }, { $0.directory = "/d/../e" }, { $0.destination = "/d/x" },
      { $0.key = "k" }, { $0.priority = 5000 }, { $0.batch = "" }, { $0.options.maxAttempts = 0 },
      { $0.options.userAgent = "a\nb" },
    ] as [@Sendable (inout NewJob) -> Void])
  func refused(_ change: @Sendable (inout NewJob) -> Void) {
    #expect(throws: Problem.self) { try list(template(change)) }
  }

  @Test("bytes that are not UTF-8 are a fault of their line")
  func notText() throws {
    var list = try list(template())
    let result = Array("http://h/a".utf8 + [0xFF]).withUnsafeBytes { list.spec($0) }
    guard case .failure(let problem) = result else { return #expect(Bool(false), "accepted") }
    #expect(problem.code == .invalid)
  }
}
