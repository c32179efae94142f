import Foundation
import TestSupport
import Testing

@Suite("names of fields", .timeLimit(.minutes(5))) struct FieldNameTests {
  @Test("the daemon's refusal names the field in JSON, the option, or the column")
  func namedFields() async throws {
    let daemon = try await Daemon()
    let (url, directory) = ("sftp://127.0.0.1:9/x", daemon.downloads)
    let api = try await daemon.curl(
      "/v1/jobs", "-d", #"{"source":"\#(url)","directory":"\#(directory)","retryStatus":[404]}"#)
    #expect((api.json["detail"] as? String)?.hasPrefix("retryStatus is for http") == true, "\(api.body)")
    let fields = api.json["fields"] as? [[String: Any]]
    #expect(fields?.count == 1 && fields?.first?["name"] as? String == "retryStatus", "\(api.body)")
    #expect(fields?.first?["at"] as? Int == 0)
    let option = try await daemon.run(["add", url, "--retry-status", "404"])
    #expect(option.status == 64 && option.stderr.hasPrefix("transferctl: --retry-status is for"), "\(option.stderr)")
    for (list, words) in [
      ("\(url)\n", "line 1: --retry-status is for"),
      (#"{"url":"\#(url)","retryStatus":[404]}"#, "line 1: retryStatus (--retry-status) is for"),
      ("url,retry-status\n\(url),404\n", "line 2: retry-status (--retry-status) is for"),
    ] {
      let both = try await daemon.run(["add", "-i", "-", "--retry-status", "423"], input: Data(list.utf8))
      #expect(both.status == 64 && both.stderr.hasPrefix(words), "\(both.stderr)")
    }
    #expect(try await daemon.jobs().isEmpty)
  }
}
