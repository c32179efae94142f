import Store
import Testing
import TransferAPI

@testable import transferd

/// What a listing may ask for, and what becomes of it.
@Suite struct ListingValidationTests {
  private func spec(
    _ url: String, _ change: (inout NewJob) -> Void = { _ in }
  ) throws(Problem) -> JobSpec {
    var job = NewJob(source: url)
    (job.kind, job.directory) = (.listing, "/srv/mirror/")
    change(&job)
    return try JobValidation().spec(job)
  }

  @Test(
    "the URL of a directory ends with a slash, whatever was written",
    arguments: [
      ("https://h/pub", "https://h/pub/"), ("https://h/pub/", "https://h/pub/"), ("https://h", "https://h/"),
      ("s3://bucket", "s3://bucket/"), ("s3://bucket/a/b", "s3://bucket/a/b/"), ("ftp://h/a", "ftp://h/a/"),
      ("sftp://me:pw@h/a", "sftp://h/a/"),
    ])
  func urls(_ url: String, _ expected: String) throws {
    let spec = try spec(url)
    #expect(spec.url == expected && spec.kind == .listing && spec.destination == "/srv/mirror/")
    #expect(spec.options.listing.recursive)
    #expect((spec.credentials?.password == "pw") == url.contains("pw"))
  }

  static let wrong: [(String, @Sendable (inout NewJob) -> Void)] = [
    ("scp", { $0.source = "scp://h/a/" }), ("a query", { $0.source = "https://h/a/?x=1" }),
    ("no directory", { $0.directory = nil }),
    ("a destination", { ($0.directory, $0.destination) = (nil, "/a") }),
    ("a checksum", { $0.options.download.checksum = "md5=00000000000000000000000000000000" }),
    ("a name from the response", { $0.options.download.nameFromResponse = true }),
    ("another URL", { $0.options.download.urlFrom = .environment("A") }),
    ("a mirror", { $0.options.download.mirrors = ["https://m/a"] }), ("a size", { $0.options.download.size = 1 }),
    ("an open set", { $0.options.listing.include = ["[a"] }), ("an empty glob", { $0.options.listing.exclude = [""] }),
    ("too many globs", { $0.options.listing.exclude = Array(repeating: "a", count: 101) }),
    ("a negative depth", { $0.options.listing.maxDepth = -1 }),
    ("a large depth", { $0.options.listing.maxDepth = 101 }),
    ("an endpoint without S3", { $0.options.s3.endpoint = "https://s3.test" }),
    ("a key with ifChanged", { ($0.key, $0.options.download.ifChanged) = ("k", true) }),
  ]

  @Test("what means nothing for a listing is refused", arguments: wrong.map(\.0))
  func refused(_ name: String) throws {
    let change = try #require(Self.wrong.first { $0.0 == name }?.1)
    do throws(Problem) {
      _ = try spec("https://h/a/", change)
      Issue.record("accepted")
    } catch {
      #expect(error.code == .invalid)
    }
  }

  @Test("globs and a depth are for listings")
  func downloads() throws {
    for change in [
      { @Sendable (job: inout NewJob) in job.options.listing.include = ["*"] }, { $0.options.listing.maxDepth = 1 },
    ] {
      #expect(throws: Problem.self) {
        try self.spec("https://h/a") { job in
          job.kind = .download
          change(&job)
        }
      }
    }
  }
}
