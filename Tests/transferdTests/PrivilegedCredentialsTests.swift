import Testing
import TransferAPI

@testable import transferd

@Suite struct PrivilegedCredentialsTests {
  private func job(_ url: String, _ change: (inout NewJob) -> Void = { _ in }, isUpload: Bool = true) -> NewJob {
    var job = isUpload ? NewJob(uploading: "/a", to: url) : NewJob(source: url)
    if !isUpload { job.destination = "/a" }
    change(&job)
    return job
  }

  /// The problem's code, or `ok`.
  private func verdict(_ job: NewJob, _ caller: Caller) -> String {
    var validation = JobValidation()
    validation.caller = caller
    do throws(Problem) {
      _ = try validation.spec(job)
      return "ok"
    } catch {
      return error.code.rawValue
    }
  }

  @Test(
    "uploads that need the service's credentials are refused only to members",
    arguments: [
      ("s3://bucket/key", nil, "permission"), ("s3://KEY:SECRET@bucket/key", nil, "ok"),
      ("s3://KEY@bucket/key", nil, "permission"), ("s3://KEY:SECRET@bucket/key", "work", "permission"),
      ("s3://bucket/key", "work", "permission"), ("sftp://host/a", nil, "permission"),
      ("sftp://user@host/a", nil, "permission"), ("sftp://user:pass@host/a", nil, "ok"),
      ("scp://user@host/a", nil, "permission"), ("scp://user:pass@host/a", nil, "ok"), ("ftp://host/a", nil, "ok"),
      ("https://host/a", nil, "ok"),
    ] as [(String, String?, String)])
  func uploads(_ url: String, _ profile: String?, _ expected: String) {
    let job = job(url) { $0.options.s3.profile = profile }
    #expect(verdict(job, .member(1001)) == expected)
    #expect(verdict(job, .owner) == "ok")
    #expect(verdict(job, .root) == "ok")
  }

  @Test("an https URL of an S3 object also needs credentials")
  func pathStyle() {
    for (url, expected) in [("https://h/bucket/key", "permission"), ("https://K:S@h/bucket/key", "ok")] {
      #expect(verdict(job(url) { $0.options.upload.uploadProtocol = .s3 }, .member(1001)) == expected)
    }
  }

  @Test(
    "downloads that need the service's credentials are refused only to members",
    arguments: [
      ("s3://bucket/key", "permission"), ("s3://KEY:SECRET@bucket/key", "ok"), ("s3://KEY@bucket/key", "permission"),
      ("sftp://host/a", "permission"), ("sftp://user:pass@host/a", "ok"), ("scp://user@host/a", "permission"),
      ("https://host/a", "ok"), ("ftp://host/a", "ok"),
    ])
  func downloads(_ url: String, _ expected: String) {
    #expect(verdict(job(url, isUpload: false), .member(1001)) == expected)
    #expect(verdict(job(url, isUpload: false), .owner) == "ok")
  }

  @Test("only the daemon's user and root may use netrc", arguments: [false, true])
  func netrc(isUpload: Bool) {
    let job = job("https://host/a", { $0.options.credentials = .netrc }, isUpload: isUpload)
    #expect(verdict(job, .member(1001)) == "permission")
    #expect(verdict(job, .owner) == "ok")
    #expect(verdict(job, .root) == "ok")
  }
}
