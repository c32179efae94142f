import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct UploadValidationTests {
  private func job(_ url: String = "https://u:p@h.test/in/a", _ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
    var job = NewJob(uploading: "/srv/a", to: url)
    change(&job)
    return job
  }

  @Test("userinfo is removed from an upload's URL, and limits use the URL's origin")
  func plain() throws {
    let spec = try JobValidation().spec(job())
    #expect(spec.kind == .upload && spec.source == "/srv/a" && spec.destination == "https://h.test/in/a")
    #expect(spec.origin == "https://h.test:443" && spec.credentials?.username == "u")
    let other = try JobValidation().spec(job { $0.options.onSuccess = .move(to: "/srv//sent/") })
    #expect(other.options.onSuccess == .move(to: "/srv/sent"))
  }

  /// A header with a secret reference.
  static let secret: SecretHeader = {
    guard let header = try? SecretHeader(parsing: "env:A") else { preconditionFailure("env:A is a reference") }
    return header
  }()

  /// Twenty fields of 16 KB.
  static let manyHeaders = Dictionary(
    uniqueKeysWithValues: (1...20).map { ("X-\($0)", String(repeating: "a", count: 16_000)) })

  static let bad: [(String, @Sendable (inout NewJob) -> Void)] = [
    ("a relative source", { $0.source = "a" }), ("a source that climbs", { $0.source = "/a/../b" }),
    ("no URL", { $0.destination = nil }), ("a directory", { $0.directory = "/d" }),
    ("replace", { $0.options.download.replace = true }),
    ("a checksum", { $0.options.download.checksum = "md5=d41d8cd98f00b204e9800998ecf8427e" }),
    ("an unknown scheme", { $0.destination = "gopher://h/" }),
    ("a file URL", { $0.destination = "file:///etc/x" }), ("a newline in the URL", { $0.destination = "http://h/\na" }),
    ("a reserved header", { $0.options.headers = ["Content-Length": "1"] }),
    ("a header that resumes", { $0.options.headers = ["Upload-Offset": "1"] }),
    ("a header that makes a piece", { $0.options.headers = ["upload-concat": "partial"] }),
    ("a header that frames", { $0.options.headers = ["Content-Range": "bytes 0-1/2"] }),
    (
      "ifAbsent and tus",
      {
        $0.options.upload.uploadProtocol = .tus
        $0.options.upload.ifAbsent = true
      }
    ),
    (
      "ifAbsent and POST",
      {
        $0.options.upload.method = .post
        $0.options.upload.ifAbsent = true
      }
    ),
    (
      "a query and S3",
      {
        $0.options.upload.uploadProtocol = .s3
        $0.destination = "https://h/bucket/key?versionId=1"
      }
    ),
    ("endless headers", { $0.options.headers = manyHeaders }),
    (
      "an endless collection",
      {
        $0.options.upload.uploadProtocol = .webdav
        $0.options.upload.collection = "https://h/" + String(repeating: "a", count: 40_000)
      }
    ),
    (
      "an endless endpoint",
      {
        $0.destination = "s3://K:S@bucket/key"
        $0.options.s3.endpoint = "https://h.test/" + String(repeating: "a", count: 40_000)
      }
    ),
    (
      "an endless form",
      {
        $0.options.upload.uploadProtocol = .form
        $0.options.upload.form = [FormField(name: "a", value: .text(String(repeating: "b", count: 300_000)))]
      }
    ),
    (
      "countless fields in a form",
      {
        $0.options.upload.uploadProtocol = .form
        $0.options.upload.form = Array(repeating: FormField(name: "a", value: .text("b")), count: 2000)
      }
    ),
    (
      "an endless name in a form",
      {
        $0.options.upload.uploadProtocol = .form
        $0.options.upload.form = [FormField(name: String(repeating: "a", count: 2000), value: .text("b"))]
      }
    ),
    ("a reserved secret header", { $0.options.secretHeaders = ["Host": secret] }),
    (
      "a header twice",
      {
        $0.options.headers = ["x-a": "1"]
        $0.options.secretHeaders = ["X-A": secret]
      }
    ),
    ("a method of tus", { job in (job.options.upload.method, job.options.upload.uploadProtocol) = (.put, .tus) }),
    ("a form that is none", { $0.options.upload.form = [FormField(name: "a", value: .text("b"))] }),
    (
      "two files in a form",
      {
        $0.options.upload.uploadProtocol = .form
        $0.options.upload.form = [FormField(name: "a", value: .file), FormField(name: "b", value: .file)]
      }
    ),
    ("an endpoint without S3", { $0.options.s3.endpoint = "https://s3.test" }),
    ("a spool and a source", { $0.spool = String(repeating: "0", count: 32) }),
    (
      "an invalid spool token",
      {
        $0.source = ""
        $0.spool = "../../etc"
      }
    ),
    (
      "an action on spooled input",
      {
        $0.source = ""
        $0.spool = String(repeating: "0", count: 32)
        $0.options.onSuccess = .delete
      }
    ),
  ]

  @Test("invalid uploads are refused", arguments: bad.indices)
  func refused(_ index: Int) {
    #expect(throws: Problem.self, "\(Self.bad[index].0)") {
      try JobValidation().spec(job("https://h/", Self.bad[index].1))
    }
  }

  @Test(
    "only the daemon's user may use references that make the daemon read or run something",
    arguments: [
      ("netrc", [true, true, false]), ("env:A", [true, true, false]), ("file:/a", [true, true, false]),
      ("exec:a", [true, false, false]),
    ])
  func callers(_ reference: String, _ expected: [Bool]) throws {
    let reference = try SecretReference(parsing: reference)
    for (caller, isAllowed) in zip([Caller.owner, .root, .member(1001)], expected) {
      var validation = JobValidation()
      validation.caller = caller
      let spec = try? validation.spec(job { $0.options.credentials = reference })
      #expect((spec != nil) == isAllowed)
    }
    #expect(Caller(uid: 0, daemon: 0).role == .owner)
    #expect(Caller(uid: 0, daemon: 5) == .root)
    #expect(Caller(uid: 7, daemon: 5) == .member(7))
  }
}
