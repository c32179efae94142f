import Foundation
import Glibc
import TestSupport
import Testing

/// `--url-from`: another URL of the same file, when the server refuses the job's own.
@Suite("--url-from", .timeLimit(.minutes(5))) struct URLFromTests {
  /// A server whose `/old` fails with this status, after a first response that is cut off if `cut` is set, and a program that
  /// prints the URL of `/new` and notes each call.
  private struct Site {
    let server: LoopbackServer
    let daemon: Daemon
    let program: String

    init(_ behaviour: FileBehaviour, status: Int = 403, cut: FileBehaviour? = nil, answer: String? = nil) async throws {
      let (new, old) = (behaviour.handler(), cut?.handler())
      let isFirst = Watched(true)
      server = try LoopbackServer { request in
        if request.path == "/new-pathsecret" { return new(request) }
        if let old, isFirst.value {
          isFirst.mutate { $0 = false }
          return old(request)
        }
        return .response(status, text: "no")
      }
      daemon = try await Daemon()
      let url = answer ?? server.url("/new-pathsecret?sig=querysecret")
      program = try daemon.directory.file(
        "mint", text: "#!/bin/sh\necho call >> '\(daemon.directory.path("calls"))'\necho '\(url)'\n")
      chmod(program, 0o755)
    }

    var calls: Int {
      let text = (try? String(contentsOfFile: daemon.directory.path("calls"), encoding: .utf8)) ?? ""
      return text.split(separator: "\n").count
    }

    /// Everything that the daemon shows of its jobs.
    func shown(_ id: String) async throws -> String {
      var texts = [daemon.log]
      for arguments in [
        ["show", id], ["show", id, "--format", "json"], ["events", id, "--format", "json"], ["export", "--all"],
        ["status", "--format", "wide"], ["why", id],
      ] {
        let result = try await daemon.run(arguments)
        texts += [result.stdout, result.stderr]
      }
      return texts.joined()
    }
  }

  @Test("the bytes on disk are kept, the rest comes from the new URL, and the URL is shown nowhere", arguments: [0, 1])
  func resumes(_ way: Int) async throws {
    let payload = Payload(size: 8 << 20, seed: 81)
    let site = try await Site(.file(payload), cut: .file(payload).dropping(after: 3 << 20))
    let file = try site.daemon.directory.file("url", text: site.server.url("/new-pathsecret?sig=querysecret") + "\n")
    let reference = way == 0 ? "exec:\(site.program)" : "file:\(file)"
    let id = try await site.daemon.add(
      site.server.url("/old"), "-o", "a", "--segments", "1", "--url-from", reference)
    try await site.daemon.expectCompleted(id, payload, as: "a")
    let requests = site.server.requests
    #expect(requests.map(\.path) == ["/old", "/old", "/new-pathsecret"])
    #expect(requests.last.map(\.start) ?? 0 >= 2 << 20)
    #expect(requests.last?.headers["If-Range"] != nil)
    if way == 0 { #expect(site.calls == 1) }
    let shown = try await site.shown(id)
    #expect(!shown.contains("pathsecret") && !shown.contains("querysecret"))
    #expect(shown.contains(#""urlFrom":"\#(reference)""#))
  }

  @Test("it is asked once an attempt, at 401, 403, 404 and 410 alone", arguments: [401, 403, 404, 410, 400, 405])
  func once(_ status: Int) async throws {
    let site = try await Site(
      .file(size: 1000).answering { answer, _ in answer.replace(status, body: Data("no".utf8)) }, status: status)
    let id = try await site.daemon.add(
      site.server.url("/old"), "-o", "a", "--url-from", "exec:\(site.program)")
    let job = try await site.daemon.finished(id)
    #expect(job.state == "failed" && job.error?.code == "http-\(status)")
    #expect(site.calls == ([401, 403, 404, 410].contains(status) ? 1 : 0))
    let shown = try await site.shown(id)
    #expect(!shown.contains("pathsecret"))
  }

  @Test("another file at the new URL replaces what is there")
  func other() async throws {
    let (payload, other) = (Payload(size: 4 << 20, seed: 82), Payload(size: 5 << 20, seed: 83))
    let site = try await Site(.file(other), cut: .file(payload).dropping(after: 3 << 20))
    let id = try await site.daemon.add(
      site.server.url("/old"), "-o", "a", "--segments", "1", "--url-from", "exec:\(site.program)")
    try await site.daemon.expectCompleted(id, other, as: "a")
  }

  @Test("after kill -9 the job begins with its own URL, asks again, and keeps its bytes")
  func kill() async throws {
    let payload = Payload(size: 8 << 20, seed: 84)
    let site = try await Site(.file(payload).holding(after: 4 << 20, until: Gate(), on: .first(1)))
    let id = try await site.daemon.add(
      site.server.url("/old"), "-o", "a", "--segments", "1", "--url-from", "exec:\(site.program)")
    try await site.daemon.waitForParts(holding: 4 << 20)
    try await site.daemon.kill9()
    try await site.daemon.start()
    try await site.daemon.expectCompleted(id, payload, as: "a")
    #expect(site.server.requests.map(\.path) == ["/old", "/new-pathsecret", "/old", "/new-pathsecret"])
    #expect(site.server.requests.last.map(\.start) ?? 0 > 0)
    #expect(site.calls == 2)
  }

  @Test("what is meant for the job's own origin is not sent to another")
  func origins() async throws {
    let payload = Payload(size: 1000, seed: 85)
    let other = try LoopbackServer(.file(payload))
    let site = try await Site(.file(payload), answer: other.url("/f"))
    let id = try await site.daemon.add(
      site.server.url("/old").replacingOccurrences(of: "http://", with: "http://me:word@"), "-o", "a", "--header",
      "X-Token: word", "--user-agent", "test/1", "--url-from", "exec:\(site.program)")
    try await site.daemon.expectCompleted(id, payload, as: "a")
    #expect(site.server.requests[0].headers["Authorization"] != nil)
    let request = try #require(other.requests.first)
    #expect(request.headers["Authorization"] == nil && request.headers["X-Token"] == nil)
    #expect(request.headers["User-Agent"] == "test/1")
  }

  @Test("a URL that cannot be had, or is none, fails the attempt without a word of it")
  func broken() async throws {
    for (answer, part) in [
      ("ftp://pathsecret/x", "is no http or https URL"), ("querysecret", "is no http or https URL"),
    ] {
      let site = try await Site(.file(size: 10), answer: answer)
      let id = try await site.daemon.add(
        site.server.url("/old"), "-o", "a", "--retries", "0", "--url-from", "exec:\(site.program)")
      let job = try await site.daemon.finished(id)
      #expect(job.error?.code == "credentials" && job.error?.message.contains(part) == true)
      let shown = try await site.shown(id)
      #expect(!shown.contains(answer))
    }
    let site = try await Site(.file(size: 10))
    let id = try await site.daemon.add(
      site.server.url("/old"), "-o", "a", "--retries", "0", "--url-from", "env:NOT_THERE")
    let job = try await site.daemon.finished(id)
    #expect(job.error?.code == "credentials")
  }

  @Test(
    "what means nothing is a usage error",
    arguments: [
      ["https://h.example/a", "--url-from", "netrc"], ["https://h.example/a", "--url-from", "https://x/"],
      ["https://h.example/a", "--url-from", "file:relative"], ["ftp://h.example/a", "--url-from", "env:A"],
      ["s3://bucket/a", "--url-from", "env:A"],
      ["https://h.example/a", "--url-from", "env:A", "--mirror", "https://m.example/a"],
    ])
  func usage(_ arguments: [String]) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add"] + arguments)
    #expect(result.status == 64, "\(result.stderr)")
  }
}
