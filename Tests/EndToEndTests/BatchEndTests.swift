import Digests
import Foundation
import Glibc
import TestSupport
import Testing

/// `hooks.onBatchEnd` and `webhooks`.
@Suite("ends of batches", .timeLimit(.minutes(5))) struct BatchEndTests {
  /// A server that refuses some requests, and the events that it got.
  private static func receiver(_ status: @escaping @Sendable (ServedRequest) -> Int) throws -> LoopbackServer {
    try LoopbackServer { .response(status($0)) }
  }

  private static func json(_ request: ServedRequest) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
  }

  private static func identifiers(_ server: LoopbackServer) -> [String?] {
    var found: [String?] = []
    for id in server.requests.map({ $0.headers["webhook-id"] }) where !found.contains(id) { found.append(id) }
    return found
  }

  private static func expectSigned(_ request: ServedRequest, _ secret: String) throws {
    let id = try #require(request.headers["webhook-id"])
    let time = try #require(request.headers["webhook-timestamp"])
    let now = Date().timeIntervalSince1970
    #expect(abs(now - (Double(time) ?? 0)) < 600)
    let signed = Array("\(id).\(time).".utf8) + Array(request.body)
    let code = HMAC.authenticationCode(for: signed, key: Array(secret.utf8), using: .sha256)
    #expect(request.headers["webhook-signature"] == "v1," + Data(code).base64EncodedString())
    #expect(request.headers["Content-Type"] == "application/json" && request.method == "POST")
  }

  @Test("command and webhook get one summary for each end, also after new jobs, and over a restart")
  func summary() async throws {
    let files = try LoopbackServer { .response($0.path == "/bad" ? 404 : 200, body: Data("12345".utf8)) }
    let hooks = try Self.receiver { _ in 204 }
    let directory = try TemporaryDirectory()
    let script = try directory.file(
      "hook.sh", text: "cat >> \(directory.path)/ends\necho $TRANSFERD_BATCH >> \(directory.path)/ends\n")
    let daemon = try await Daemon(
      environment: ["HOOK_KEY": "s3cret"],
      config: """
        transferd:
          hooks:
            onBatchEnd: ["/bin/sh", "\(script)"]
          webhooks:
            - {url: "\(hooks.url("/events"))", secret: "env:HOOK_KEY", events: [batch-end]}
        """)
    let list = ["/a", "/b", "/bad"].map { files.url($0) }
    let added = try await daemon.run(["add", "-d", daemon.downloads, "--batch", "nightly", "--wait"] + list)
    #expect(added.status == 1)
    // No webhook gets a job, or a batch that has not ended.
    let first = try await hooks.waitForRequests(1)[0]
    try Self.expectSigned(first, "s3cret")
    let summary = try Self.json(first)
    #expect(summary["event"] as? String == "batch-end" && summary["batch"] as? String == "nightly")
    #expect(summary["jobs"] as? Int == 3 && summary["bytesDone"] as? Int == 10)
    #expect((summary["failures"] as? [String: Int]) == ["http-404": 1])
    #expect((summary["results"] as? [String: Int])?["transferred"] == 2)
    #expect((summary["counts"] as? [String: Int])?["completed"] == 2)
    #expect(summary["duration"] is Double && summary["startedAt"] is String && summary["finishedAt"] is String)
    try await eventually("the command's end") {
      let text = (try? String(contentsOfFile: directory.path("ends"), encoding: .utf8)) ?? ""
      return text.hasSuffix("\nnightly\n") && text.split(separator: "\n").count == 2
    }
    let text = try String(contentsOfFile: directory.path("ends"), encoding: .utf8)
    #expect(Data(text.split(separator: "\n")[0].utf8) == first.body)

    try await daemon.restart(by: SIGKILL)
    let more = try await daemon.ctl("add", files.url("/c"), "-d", daemon.downloads, "--batch", "nightly", "--wait")
    #expect(more.status == 0)
    // A delivery whose response the kill came before is repeated with its id.
    try await eventually("the second end") { Self.identifiers(hooks).count == 2 }
    let second = try #require(hooks.requests.first { $0.headers["webhook-id"] != first.headers["webhook-id"] })
    #expect(try Self.json(second)["jobs"] as? Int == 4)
    #expect(Self.identifiers(hooks).count == 2)
    let stopped = try await daemon.terminate()
    #expect(!stopped.log.contains("s3cret"))
  }

  @Test("a refused delivery is repeated with the same id, also after a kill, and one that was refused for good is not")
  func retries() async throws {
    let files = try LoopbackServer { _ in .response(200, body: Data("1".utf8)) }
    let hooks = try Self.receiver { $0.index < 2 ? 500 : 200 }
    let gone = try Self.receiver { _ in 410 }
    let daemon = try await Daemon(
      config: """
        transferd:
          webhooks:
            - {url: "\(hooks.url("/"))", events: [job-completed, job-failed]}
            - {url: "\(gone.url("/"))", events: [job-completed]}
        """)
    #expect(try await daemon.ctl("add", files.url("/a"), "-d", daemon.downloads, "--wait").status == 0)
    _ = try await hooks.waitForRequests(1)
    try await daemon.restart(by: SIGKILL)
    let requests = try await hooks.waitForRequests(3)
    #expect(Set(requests.prefix(3).map { $0.headers["webhook-id"] }).count == 1)
    #expect(requests.allSatisfy { $0.headers["webhook-signature"] == nil })
    let job = try Self.json(requests[2])
    #expect(job["event"] as? String == "job-completed" && job["state"] as? String == "completed")
    // The next event comes after all attempts for the first one.
    #expect(try await daemon.ctl("add", files.url("/b"), "-d", daemon.downloads, "--wait").status == 0)
    let last = try await hooks.waitForRequests(4)[3]
    #expect(try Self.json(last)["id"] as? Int == 2)
    #expect(try await daemon.ctl("add", files.url("/c"), "-d", daemon.downloads, "--wait").status == 0)
    try await eventually("three refused events") { Self.identifiers(gone).count == 3 }
    // The first one may have been repeated, because the kill came before its refusal was stored.
    let second = Self.identifiers(gone)[1]
    #expect(gone.requests.count { $0.headers["webhook-id"] == second } == 1)
  }

  /// The first receiver once stopped all webhooks and commands, and the second one got each event for a day.
  @Test("a receiver whose response is endless, broken or missing gets no needless repeat and delays no other receiver")
  func strangeResponses() async throws {
    let files = try LoopbackServer { _ in .response(200, body: Data("1".utf8)) }
    let chunked: HeaderList = ["Transfer-Encoding": "chunked"]
    let endless = try LoopbackServer { _ in [.status(200, headers: chunked), .chunk(Data("x".utf8)), .stall] }
    let cut = try LoopbackServer { _ in
      [.status(200, headers: ["Content-Length": "100"]), .body(Data("x".utf8)), .close]
    }
    let silent = try LoopbackServer { _ in [.stall] }
    let hooks = try Self.receiver { _ in 204 }
    let daemon = try await Daemon(
      config: "transferd:\n  webhooks:\n"
        + [silent, endless, cut, hooks].map { "    - {url: \"\($0.url("/"))\", events: [job-completed]}\n" }.joined())
    for name in ["/a", "/b"] {
      #expect(try await daemon.ctl("add", files.url(name), "-d", daemon.downloads, "--wait").status == 0)
    }
    for server in [endless, cut, hooks] {
      try await eventually("both events") { Self.identifiers(server).count == 2 }
      #expect(server.requests.count == 2)
    }
  }

  @Test("a kill before the batch was quiet for long enough costs nothing")
  func killed() async throws {
    let files = try LoopbackServer { _ in .response(200, body: Data("1".utf8)) }
    let hooks = try Self.receiver { _ in 200 }
    let daemon = try await Daemon(
      config: "transferd:\n  webhooks:\n    - {url: \"\(hooks.url("/"))\", events: [batch-end]}\n")
    let added = try await daemon.ctl("add", files.url("/a"), "-d", daemon.downloads, "--batch", "b", "--wait")
    #expect(added.status == 0)
    try await daemon.restart(by: SIGKILL)
    #expect(try Self.json(try await hooks.waitForRequests(1)[0])["batch"] as? String == "b")
    #expect(hooks.requests.count == 1)
  }
}
