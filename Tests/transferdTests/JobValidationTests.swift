import Testing
import TransferAPI

@testable import transferd

@Suite struct JobValidationTests {
  private func job(_ url: String = "https://h.test/dir/a.iso", _ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
    var job = NewJob(source: url)
    job.directory = "/d"
    change(&job)
    return job
  }

  private func problem(_ job: NewJob) -> Problem? {
    do throws(Problem) {
      _ = try JobValidation().spec(job)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "the name comes from the URL and is made safe",
    arguments: [
      ("https://h/a.iso", "/d/a.iso"), ("https://h/a%20b", "/d/a b"), ("https://h/x?f=/y", "/d/x"),
      ("https://h/", "/d/"), ("https://h", "/d/"), ("https://h/%2e%2e", "/d/"), ("https://h/..%2fetc", "/d/etc"),
      ("https://h/.bashrc", "/d/_bashrc"),
    ])
  func name(_ url: String, _ destination: String) throws {
    #expect(try JobValidation().spec(job(url)).destination == destination)
  }

  @Test("paths are normalised")
  func paths() throws {
    #expect(try JobValidation().spec(job { $0.directory = "/" }).destination == "/a.iso")
    #expect(try JobValidation().spec(job { $0.directory = "/d//e/./f/" }).destination == "/d/e/f/a.iso")
    let named = job {
      $0.directory = nil
      $0.destination = "/d/x y"
    }
    #expect(try JobValidation().spec(named).destination == "/d/x y")
  }

  @Test("userinfo moves from the URL to the credentials")
  func credentials() throws {
    let spec = try JobValidation().spec(job("https://u:p@h.test/x"))
    #expect(spec.url == "https://h.test/x")
    #expect(spec.credentials?.password == "p")
    #expect(spec.origin == "https://h.test:443")
  }

  static let bad: [(String, @Sendable (inout NewJob) -> Void)] = [
    ("a relative directory", { $0.directory = "d" }),
    ("no destination", { $0.directory = nil }),
    ("both destinations", { $0.destination = "/x" }),
    ("two dots", { $0.directory = "/d/../e" }),
    (
      "a name of 300 characters",
      {
        $0.directory = nil
        $0.destination = "/d/" + String(repeating: "x", count: 300)
      }
    ),
    (
      "NUL in a name",
      {
        $0.directory = nil
        $0.destination = "/d/a\0b"
      }
    ),
    (
      "a directory for a file",
      {
        $0.directory = nil
        $0.destination = "/d/"
      }
    ),
    ("a file URL", { $0.source = "file:///etc/passwd" }),
    (
      "a name from a response that has no header fields",
      {
        $0.source = "sftp://h/x"
        $0.options.download.nameFromResponse = true
      }
    ),
    (
      "header fields for a protocol without them",
      {
        $0.source = "ftp://h/x"
        $0.options.headers = ["X": "a"]
      }
    ),
    ("a space in the URL", { $0.source = "https://h/a b" }),
    ("a line break in the URL", { $0.source = "https://h/\r\nX: y" }),
    ("a line break in a header", { $0.options.headers = ["X": "a\r\nHost: b"] }),
    ("a bad header name", { $0.options.headers = ["X Y": "a"] }),
    ("a reserved header", { $0.options.headers = ["range": "bytes=0-"] }),
    ("Host", { $0.options.headers = ["Host": "other"] }),
    ("a bad checksum", { $0.options.download.checksum = "sha-256=00" }),
    ("no tries", { $0.options.maxAttempts = 0 }),
    ("too high a priority", { $0.priority = 1001 }),
    ("an empty batch", { $0.batch = "" }),
    ("a control character in the key", { $0.key = "a\u{1}" }),
    ("a negative rate", { $0.options.limitRate = -1 }),
    ("an upload", { $0.kind = .upload }),
  ]

  @Test("invalid jobs are refused with a reason", arguments: bad.indices)
  func refused(_ index: Int) throws {
    let (name, change) = Self.bad[index]
    let problem = try #require(self.problem(job("https://h/x", change)), "\(name) was accepted")
    #expect(problem.code == .invalid)
    #expect(!problem.detail.isEmpty)
  }

  @Test("a refusal names its fields in a place of their own, for faces that call them otherwise")
  func fields() throws {
    func names(_ change: (inout NewJob) -> Void) -> [String] {
      problem(job("https://h/x", change))?.fields?.map(\.name) ?? []
    }
    #expect(names { $0.priority = 1001 } == ["priority"])
    #expect(names { ($0.options.download.ifChanged, $0.key) = (true, "k") } == ["ifChanged", "key"])
    #expect(names { $0.options.download.checksum = "sha-256=00" } == ["checksum"])
    #expect(names { $0.options.network.resolve = ["x"] } == ["resolve"])
    #expect(names { $0.options.s3.region = "r" } == ["region", "protocol"])
    #expect(names { $0.options.referer = "x" } == ["referer"])
    #expect(names { $0.source = "https://h/a b" } == [])
  }
}
