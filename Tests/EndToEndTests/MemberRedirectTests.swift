import Foundation
import TestSupport
import Testing

@Suite(
  "where jobs of members lead", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberRedirectTests {
  private static func body(_ url: String, _ destination: String) throws -> Data {
    try JSONSerialization.data(withJSONObject: ["source": url, "destination": destination])
  }

  @Test(
    "a member's URL of this machine is refused with 403; a name that resolves to it fails before a byte is sent")
  func firstURL() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "secret") }
    let shared = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": ""])
    let path = shared.directory(of: .alice) + "/a"
    for url in [server.url("/a"), "http://localhost:\(server.port)/a", "http://2130706433:\(server.port)/a"] {
      let answer = try await shared.curl(
        "/v1/jobs", "-d", "@-", input: try Self.body(url, path), as: .alice)
      #expect(answer.status == 403, "\(url): \(answer.body)")
      #expect(answer.code == "permission")
    }
    #expect(server.counters.connections == 0)
    // The daemon's user and root may use it.
    for person in [SharedDaemon.Person.service, .root] {
      let result = try await shared.ctl(
        "add", server.url("/a"), "-o", "\(shared.daemon.downloads)/\(person)", "--wait", as: person)
      #expect(result.status == 0, "\(result.stderr)")
    }
  }

  @Test("`redirects: any` opens private networks to members; `same-origin` closes redirects for everybody")
  func configured() async throws {
    let target = try LoopbackServer { _ in .response(200, text: "x") }
    let server = try LoopbackServer { $0.path == "/away" ? .redirect(to: target.url("/x")) : .response(200, text: "x") }
    let open = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": "any"])
    let added = try await open.ctl(
      "add", server.url("/away"), "-o", open.directory(of: .alice) + "/a", "--wait", as: .alice)
    #expect(added.status != 5, "\(added.stderr)")
    #expect(target.requests.count == 1)
    let closed = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": "same-origin"])
    let refused = try await closed.ctl(
      "add", server.url("/away"), "-o", closed.daemon.downloads + "/a", "--wait", as: .service)
    #expect(refused.status == 1)
    let id = refused.lines.first ?? ""
    let show = try await closed.ctl("show", id, "--format", "json", as: .service).stdout
    #expect(show.contains("redirect-refused"), "\(show)")
    #expect(target.requests.count == 1)
  }
}
