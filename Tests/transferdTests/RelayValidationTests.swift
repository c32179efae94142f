import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct RelayValidationTests {
  private func job(
    _ source: String = "https://u:p@h.test/a/b.iso", to target: String = "https://w:q@t.test/in/",
    _ change: (inout NewJob) -> Void = { _ in }
  ) -> NewJob {
    var job = NewJob(source: source)
    (job.kind, job.destination) = (.relay, target)
    change(&job)
    return job
  }

  @Test("the source's name is added to a target that ends in a slash, and each side has its own credentials and origin")
  func plain() throws {
    let spec = try JobValidation().spec(job())
    #expect(spec.kind == .relay && spec.source == "https://h.test/a/b.iso")
    #expect(spec.destination == "https://t.test/in/b.iso")
    #expect(spec.origin == "https://h.test:443" && spec.relay?.otherOrigin == "https://t.test:443")
    #expect(spec.credentials?.username == "u" && spec.relay?.credentials?.username == "w")
    #expect(spec.options.upload.collection == "https://t.test/in/")
    let (down, up) = (spec.leg(.download, copy: "/s/b"), spec.leg(.upload, copy: "/s/b"))
    #expect(down.kind == .download && down.destination == "/s/b" && down.url == "https://h.test/a/b.iso")
    #expect(up.kind == .upload && up.source == "/s/b" && up.url == "https://t.test/in/b.iso")
    #expect(up.credentials?.password == "q" && up.origin == "https://t.test:443")
  }

  @Test(
    "names of sources are percent-encoded and cannot leave the collection",
    arguments: [
      ("https://h/a%20b.iso", "https://t/in/", "https://t/in/a%20b.iso"),
      ("https://h/x/..%2F..%2Fetc%2Fpasswd", "https://t/in/", "https://t/in/passwd"),
      ("https://h/a%3Fb%23c", "https://t/in/?k=1", "https://t/in/a%3Fb%23c?k=1"),
      ("https://h/a.iso?token=1", "https://t", "https://t/a.iso"), ("https://h/a.iso", "https://t/x", "https://t/x"),
      ("https://h/a.iso", "s3://bucket", "s3://bucket/a.iso"),
      ("https://h/a.iso", "s3://bucket/k/", "s3://bucket/k/a.iso"),
    ])
  func names(_ source: String, _ target: String, _ whole: String) throws {
    let name = try JobValidation().spec(job(source, to: target)).destination
    // Which part of a hostile name is left is decided by SafeName.
    if source.contains("passwd") {
      #expect(name.hasPrefix("https://t/in/") && !name.dropFirst("https://t/in/".count).contains("/"), "\(name)")
    } else {
      #expect(name == whole)
    }
  }

  static let bad: [(String, @Sendable (inout NewJob) -> Void)] = [
    ("no target", { $0.destination = nil }), ("a target that is a path", { $0.destination = "/srv/x" }),
    ("a source without a name", { $0.source = "https://h/" }), ("a directory", { $0.directory = "/d" }),
    ("a file target", { $0.destination = "file:///etc/x" }),
    ("a spool", { $0.spool = String(repeating: "0", count: 32) }),
    ("replace", { $0.options.download.replace = true }), ("mode", { $0.options.download.mode = "0644" }),
    ("ifExists", { $0.options.download.ifExists = .skip }), ("ifChanged", { $0.options.download.ifChanged = true }),
    ("partDir", { $0.options.download.partDir = "/p" }), ("onSuccess", { $0.options.onSuccess = .delete }),
    ("onChange", { $0.options.upload.onChange = .fail }), ("recursive", { $0.options.listing.recursive = true }),
    ("insecure", { $0.options.network.insecure = true }), ("cert", { $0.options.network.cert = "/c.pem" }),
    ("nameFromResponse", { $0.options.download.nameFromResponse = true }),
    ("an endpoint without S3", { $0.options.s3.endpoint = "https://e" }),
    (
      "retryStatus without HTTP",
      {
        ($0.source, $0.destination) = ("sftp://h/a", "ftp://t/a")
        $0.options.network.retryStatus = [404]
      }
    ),
    ("a header that frames", { $0.options.headers = ["Content-Length": "1"] }),
    ("form fields without the protocol", { $0.options.upload.form = [FormField(name: "f", value: .file)] }),
    (
      "a user agent for a source without HTTP",
      {
        $0.source = "sftp://h/a"
        $0.options.userAgent = "x"
      }
    ),
  ]

  @Test("what a relay cannot have is refused", arguments: bad.indices)
  func refused(_ index: Int) {
    #expect(throws: Problem.self, "\(Self.bad[index].0)") { try JobValidation().spec(job { Self.bad[index].1(&$0) }) }
  }

  @Test("targetCredentials are for relays alone")
  func targetCredentials() throws {
    var download = NewJob(source: "https://h/a")
    download.directory = "/d"
    download.options.relay.targetCredentials = .netrc
    #expect(throws: Problem.self) { try JobValidation().spec(download) }
    let spec = try JobValidation().spec(
      job {
        $0.options.credentials = .file("/one")
        $0.options.relay.targetCredentials = .file("/two")
      })
    #expect(spec.leg(.download, copy: "/c").options.credentials == .file("/one"))
    #expect(spec.leg(.upload, copy: "/c").options.credentials == .file("/two"))
  }

  @Test("members need what a download of the source and an upload to the target need")
  func members() throws {
    let validation = JobValidation(caller: .member(41_002))
    func code(_ job: NewJob) -> Problem.Code? {
      do throws(Problem) {
        let spec = try validation.spec(job)
        try NetworkRules(daemon: 1000).check(spec.userURLs, of: spec.owner)
      } catch {
        return error.code
      }
      return nil
    }
    #expect(code(job()) == nil)
    #expect(code(job(to: "s3://K:S@bucket/a")) == nil)
    #expect(code(job("s3://K:S@bucket/a")) == nil)
    for (source, target) in [
      ("http://127.0.0.1/a", "https://t/"), ("https://h/a", "http://127.0.0.1/"), ("sftp://h/a", "https://t/"),
      ("https://h/a", "sftp://t/a"), ("https://h/a", "s3://bucket/"), ("s3://bucket/a", "https://t/"),
      // The key of one side is not the other's.
      ("s3://K:S@bucket/a", "s3://bucket/b"), ("s3://bucket/a", "s3://K:S@bucket/b"),
    ] {
      #expect(code(job(source, to: target)) == .permission, "\(source) \(target)")
    }
  }
}
