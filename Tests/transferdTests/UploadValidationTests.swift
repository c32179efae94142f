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

  @Test("an upload's URL loses its userinfo, and its origin is what limits count")
  func plain() throws {
    let spec = try JobValidation().spec(job())
    #expect(spec.kind == .upload && spec.source == "/srv/a" && spec.destination == "https://h.test/in/a")
    #expect(spec.origin == "https://h.test:443" && spec.credentials?.username == "u")
    let other = try JobValidation().spec(job { $0.upload.onSuccess = .move(to: "/srv//sent/") })
    #expect(other.upload.onSuccess == .move(to: "/srv/sent"))
  }

  /// A header that is looked up.
  static let secret: SecretHeader = {
    guard let header = try? SecretHeader(parsing: "env:A") else { preconditionFailure("env:A is a reference") }
    return header
  }()

  static let bad: [(String, @Sendable (inout NewJob) -> Void)] = [
    ("a relative source", { $0.source = "a" }), ("a source that climbs", { $0.source = "/a/../b" }),
    ("no URL", { $0.destination = nil }), ("a directory", { $0.directory = "/d" }), ("replace", { $0.replace = true }),
    ("a checksum", { $0.checksum = "md5=d41d8cd98f00b204e9800998ecf8427e" }),
    ("a scheme that nobody speaks", { $0.destination = "gopher://h/" }),
    ("a file URL", { $0.destination = "file:///etc/x" }), ("a newline in the URL", { $0.destination = "http://h/\na" }),
    ("a reserved header", { $0.headers = ["Content-Length": "1"] }),
    ("a header that resumes", { $0.headers = ["Upload-Offset": "1"] }),
    ("a header that frames", { $0.headers = ["Content-Range": "bytes 0-1/2"] }),
    (
      "ifAbsent and tus",
      {
        $0.upload.uploadProtocol = .tus
        $0.upload.ifAbsent = true
      }
    ),
    (
      "ifAbsent and POST",
      {
        $0.upload.method = .post
        $0.upload.ifAbsent = true
      }
    ),
    (
      "a query and S3",
      {
        $0.upload.uploadProtocol = .s3
        $0.destination = "https://h/bucket/key?versionId=1"
      }
    ),
    ("a reserved secret header", { $0.secretHeaders = ["Host": secret] }),
    (
      "a header twice",
      {
        $0.headers = ["x-a": "1"]
        $0.secretHeaders = ["X-A": secret]
      }
    ),
    ("a method of tus", { job in (job.upload.method, job.upload.uploadProtocol) = (.put, .tus) }),
    ("a form that is none", { $0.upload.form = [FormField(name: "a", value: .text("b"))] }),
    (
      "two files in a form",
      {
        $0.upload.uploadProtocol = .form
        $0.upload.form = [FormField(name: "a", value: .file), FormField(name: "b", value: .file)]
      }
    ),
    ("an endpoint without S3", { $0.upload.endpoint = "https://s3.test" }),
    ("a spool and a source", { $0.spool = String(repeating: "0", count: 32) }),
    (
      "a spool that is none",
      {
        $0.source = ""
        $0.spool = "../../etc"
      }
    ),
    (
      "an action on what came by standard input",
      {
        $0.source = ""
        $0.spool = String(repeating: "0", count: 32)
        $0.upload.onSuccess = .delete
      }
    ),
  ]

  @Test("what cannot be accepted is refused", arguments: bad.indices)
  func refused(_ index: Int) {
    #expect(throws: Problem.self, "\(Self.bad[index].0)") {
      try JobValidation().spec(job("https://h/", Self.bad[index].1))
    }
  }

  @Test(
    "what makes the daemon read or run something is for its own user",
    arguments: [
      ("netrc", [true, true, false]), ("env:A", [true, true, false]), ("file:/a", [true, true, false]),
      ("exec:a", [true, false, false]),
    ])
  func callers(_ reference: String, _ expected: [Bool]) throws {
    let reference = try SecretReference(parsing: reference)
    for (caller, isAllowed) in zip([Caller.owner, .root, .member(1001)], expected) {
      var validation = JobValidation()
      validation.caller = caller
      let spec = try? validation.spec(job { $0.credentials = reference })
      #expect((spec != nil) == isAllowed)
    }
    #expect(Caller(uid: 0, daemon: 0).role == .owner)
    #expect(Caller(uid: 0, daemon: 5) == .root)
    #expect(Caller(uid: 7, daemon: 5) == .member(7))
  }
}
