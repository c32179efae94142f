import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

/// Relays from `--then-upload` and from lines.
@Suite struct RelayLinesTests {
  private func defaults(to target: String? = "https://t/in/") -> JobDefaults {
    var defaults = JobDefaults(directory: "/base")
    guard let target else { return defaults }
    (defaults.job.kind, defaults.job.destination) = (.relay, target)
    defaults.job.options.upload.verify = true
    return defaults
  }

  @Test("--then-upload makes every URL a relay, with the options of its upload")
  func urls() throws {
    let job = try defaults().job(url: "https://h/a%20b")
    #expect(job.kind == .relay && job.destination == "https://t/in/a%20b" && job.directory == nil)
    #expect(job.options.upload.verify && job.options.upload.collection == "https://t/in/")
  }

  @Test("a line may name its own target, or be a relay by itself")
  func lines() throws {
    func job(_ text: String, to target: String? = "https://t/in/") throws -> NewJob {
      try defaults(to: target).job(json: Data(text.utf8))
    }
    let own = try job(#"{"url":"https://h/a","thenUpload":"https://other/x"}"#)
    #expect(own.destination == "https://other/x" && own.options.upload.verify)
    let alone = try job(#"{"url":"https://h/a","thenUpload":"s3://bucket/k/","batch":"b"}"#, to: nil)
    #expect(alone.kind == .relay && alone.destination == "s3://bucket/k/a" && alone.directory == nil)
    #expect(try job(#"{"url":"https://h/a"}"#).destination == "https://t/in/a")
    #expect(try job(#"{"url":"https://h/a"}"#, to: nil).kind == .download)
  }

  @Test(
    "lines that contradict --then-upload, and relays that cannot be, are refused",
    arguments: [
      #"{"url":"https://h/a","destination":"x"}"#, #"{"url":"https://h/a","directory":"x"}"#,
      #"{"url":"https://h/a","thenUpload":"/x"}"#, #"{"url":"https://h/a","thenUpload":"gopher://t/"}"#,
      #"{"url":"https://h/"}"#, #"{"url":"https://h/a","replace":true}"#, #"{"url":"https://h/a","mode":"0600"}"#,
      #"{"url":"https://h/a","recursive":true}"#,
    ])
  func refused(_ line: String) {
    #expect(throws: (any Error).self) { try defaults().job(json: Data(line.utf8)) }
  }

  @Test("several URLs need a target that tells them apart, unless it replaces nothing")
  func manyURLs() {
    #expect(!defaults().sendsAllToOneURL)
    #expect(defaults(to: "https://t/x").sendsAllToOneURL)
    #expect(!defaults(to: nil).sendsAllToOneURL)
    #expect(!defaults(to: "s3://bucket").sendsAllToOneURL && defaults(to: "s3://bucket/k").sendsAllToOneURL)
    var form = defaults(to: "https://t/in/")
    form.job.options.upload.uploadProtocol = .form
    #expect(!form.sendsAllToOneURL)
  }

  @Test("CSV has thenUpload, and the options of downloads")
  func csv() throws {
    #expect(JobFields.form(of: "thenUpload") == .text && JobFields.form(of: "targetCredentials") == .text)
  }
}
