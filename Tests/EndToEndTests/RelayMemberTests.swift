import Foundation
import TestSupport
import Testing

/// Relays of members of the socket's group.
@Suite(
  "relays of members", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct RelayMemberTests {
  @Test("a member needs what a download of the source and an upload to the target need")
  func privileges() async throws {
    let local = try LoopbackServer(.file(size: 10))
    let shared = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": ""])
    for (source, target) in [
      (local.url("/a"), "https://host.example/in/"), ("https://host.example/a", local.url("/in/")),
      ("https://host.example/a", "s3://bucket/"), ("https://host.example/a", "sftp://host.example/in/"),
    ] {
      let body = try JSONSerialization.data(withJSONObject: ["source": source, "thenUpload": target, "paused": true])
      for (person, status) in [(SharedDaemon.Person.alice, 403), (.service, 201)] {
        let answer = try await shared.curl("/v1/jobs", "-d", "@-", input: body, as: person)
        #expect(answer.status == status, "\(source) \(target) \(person): \(answer.body)")
      }
    }
    for reference in ["netrc", "env:A", "file:/a", "exec:a"] {
      let answer = try await shared.curl(
        "/v1/jobs", "-d",
        #"{"source":"https://h.example/a","thenUpload":"https://t.example/","targetCredentials":"\#(reference)","paused":true}"#,
        as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(answer.body)")
    }
    #expect(local.counters.connections == 0)
  }

  @Test("a member's relay needs no directory of the member's, and no other member sees it")
  func transfers() async throws {
    let payload = Payload(size: 2 << 20, seed: 3)
    let server = try LoopbackServer(.file(payload))
    let target = try PutServer()
    let shared = try await SharedDaemon(config: "transferd:\n  maxActive: 4\n")
    let result = try await shared.ctl(
      "add", server.url("/a"), "--then-upload", target.url("/in/"), "--wait", as: .alice)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(target.holds("/in/a", payload))
    let id = result.lines.first ?? ""
    #expect(try await shared.curl("/v1/jobs/\(id)", as: .alice).json["kind"] as? String == "relay")
    #expect(try await shared.curl("/v1/jobs/\(id)", as: .bob).status == 404)
  }
}
