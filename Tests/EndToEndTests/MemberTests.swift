import Foundation
import TestSupport
import Testing

/// A member of the socket's group cannot change another member's jobs, nor learn that they exist.
@Suite(
  "members of the socket's group", .timeLimit(.minutes(10)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberTests {
  typealias Person = SharedDaemon.Person

  /// An id that no job has.
  private static let none = "999999"

  /// All requests about a job, with `ID` instead of its id.
  private static let requests: [(path: String, arguments: [String])] = [
    ("/v1/jobs/ID", []), ("/v1/jobs/ID", ["-X", "PATCH", "-d", #"{"priority":7}"#]),
    ("/v1/jobs/ID", ["-X", "PATCH", "-d", #"{"url":"http://127.0.0.1:9/stolen"}"#]),
    ("/v1/jobs/ID", ["-X", "PATCH", "-d", #"{"limitRate":1}"#]), ("/v1/jobs/ID", ["-X", "DELETE"]),
    ("/v1/jobs/ID:pause", ["-X", "POST"]), ("/v1/jobs/ID:resume", ["-X", "POST"]),
    ("/v1/jobs/ID:cancel", ["-X", "POST"]), ("/v1/jobs/ID:retry", ["-X", "POST"]),
    ("/v1/jobs:pause", ["-d", #"{"ids":[ID]}"#]), ("/v1/jobs:resume", ["-d", #"{"ids":[ID]}"#]),
    ("/v1/jobs:cancel", ["-d", #"{"ids":[ID]}"#]), ("/v1/jobs:retry", ["-d", #"{"ids":[ID]}"#]),
    ("/v1/jobs:remove", ["-d", #"{"ids":[ID]}"#]), ("/v1/jobs?ids=ID", []), ("/v1/export?ids=ID", []),
    ("/v1/events?follow=false&jobs=ID", []),
  ]

  @Test("members, the daemon's user and root are served; other users are not")
  func served() async throws {
    let shared = try await SharedDaemon()
    for person in [Person.alice, .bob, .service, .root] {
      #expect(try await shared.curl("/healthz", as: person) == .init(status: 200, body: "ok\n"), "\(person)")
      #expect(try await shared.ctl("status", "--format", "name", as: person).status == 0, "\(person)")
    }
    #expect(try await shared.curl("/healthz", as: .stranger).status == 0)
    #expect(try await shared.ctl("status", as: .stranger).status == 5)
  }

  @Test("another user's job has the same response as one that does not exist, and is not changed")
  func invisible() async throws {
    let shared = try await SharedDaemon()
    let header = "X-Api-Token: alices-secret"
    let id = try await shared.addPaused("a", "--batch", "b", "--key", "k", "--header", header, as: .alice)
    let before = try await shared.curl("/v1/jobs/\(id)", as: .root)
    #expect(before.status == 200)
    for (path, arguments) in Self.requests {
      func ask(_ id: String) async throws -> SharedDaemon.Answer {
        let launch = try shared.curlLaunch(
          path.replacing("ID", with: id), ["-w", "\n%{http_code}"] + arguments.map { $0.replacing("ID", with: id) },
          as: .bob)
        let text = try await launch.run().stdout.replacing(id, with: "ID")
        return .init(status: 0, body: text)
      }
      let (there, missing) = (try await ask(id), try await ask(Self.none))
      #expect(there == missing, "\(path) \(arguments)")
      #expect(!there.body.contains("127.0.0.1"), "\(path): \(there.body)")
    }
    for path in [
      "/v1/batches/NAME", "/v1/jobs?batch=NAME", "/v1/export?batch=NAME", "/v1/events?follow=false&batch=NAME",
    ] {
      let there = try await shared.curl(path.replacing("NAME", with: "b"), as: .bob)
      let missing = try await shared.curl(path.replacing("NAME", with: "n"), as: .bob)
      #expect(there.status == 404 && missing.status == 404, "\(path)")
      #expect(there.body == missing.body.replacing("\\\"n\\\"", with: "\\\"b\\\""), "\(path): \(there.body)")
    }
    for selector in [#"{"all":true}"#, #"{"state":"paused"}"#] {
      for verb in ["pause", "resume", "cancel", "retry", "remove"] {
        let answer = try await shared.curl("/v1/jobs:\(verb)", "-d", selector, as: .bob)
        #expect(answer.status == 200 && answer.json["changed"] as? Int == 0, "\(verb): \(answer.body)")
        #expect(answer.json["skipped"] as? Int == 0)
      }
    }
    #expect(try await shared.curl("/v1/jobs:cancel", "-d", #"{"batch":"b"}"#, as: .bob).status == 404)
    #expect(try await shared.curl("/v1/jobs", as: .bob).body.contains(#""jobs":[]"#))
    for path in ["/v1/events?follow=false", "/v1/export"] {
      #expect(try await shared.curl(path, as: .bob).body.isEmpty, "\(path)")
    }
    #expect(try await shared.curl("/v1/batches", as: .bob).body == "[]\n")
    let stats = try await shared.curl("/v1/stats", as: .bob).json
    #expect((stats["counts"] as? [String: Int])?.values.reduce(0, +) == 0 && stats["lastEvent"] as? Int == 0)
    #expect(try await shared.curl("/metrics", as: .bob).body.contains(#"transferd_jobs{state="paused"} 0"#))
    #expect(try await shared.curl("/v1/jobs/\(id)", as: .root) == before)
    #expect(try await shared.curl("/v1/events?follow=false", as: .root).body.split(separator: "\n").count == 1)
  }

  @Test("the CLI has the exit statuses of a missing job")
  func exitStatuses() async throws {
    let shared = try await SharedDaemon()
    let id = try await shared.addPaused("a", "--batch", "b", as: .alice)
    for arguments in [
      ["show", id], ["status", id], ["pause", id], ["cancel", id], ["remove", id], ["set", id, "--priority", "1"],
      ["wait", id], ["events", id], ["export", id], ["cancel", "--batch", "b"], ["batch", "show", "b"],
      ["status", "--batch", "b"],
    ] {
      let result = try await shared.ctlLaunch(arguments, as: .bob).run()
      #expect(result.status == 4 && result.stdout.isEmpty, "\(arguments): \(result.ending) \(result.stderr)")
    }
    #expect(try await shared.ctl("cancel", "--all", as: .bob).status == 0)
    #expect(try await shared.ctl("status", "--format", "name", as: .alice).lines == [id])
    #expect(try await shared.ctl("show", id, as: .alice).stdout.contains("paused"))
  }

  @Test("the daemon's user and root reach all jobs, or those of one user")
  func everything() async throws {
    let shared = try await SharedDaemon()
    let hers = try await shared.addPaused("a", "--batch", "b", as: .alice)
    let his = try await shared.addPaused("b", "--batch", "b", as: .bob)
    let only = try await shared.addPaused("c", "--batch", "only", as: .bob)
    for person in [Person.service, .root] {
      #expect(try await shared.ctl("status", "--format", "name", as: person).lines == [hers, his, only])
      let options = try await shared.curl("/v1/jobs/\(his)", as: person).json["options"] as? [String: Any]
      #expect(options?["owner"] as? UInt32 == Person.bob.uid)
      let narrowed = try await shared.curl("/v1/jobs?owner=\(Person.alice.uid)", as: person).json["jobs"] as? [Any]
      #expect(narrowed?.count == 1)
      // Two users have a batch with that name: the error says what to do.
      let ambiguous = try await shared.curl("/v1/batches/b", as: person)
      #expect(ambiguous.status == 400 && ambiguous.code == "invalid" && ambiguous.body.contains("owner=UID"))
      for owner in [Person.alice, .bob] {
        let batch = try await shared.curl("/v1/batches/b?owner=\(owner.uid)", as: person).json
        #expect(batch["owner"] as? UInt32 == owner.uid)
      }
      #expect(try await shared.curl("/v1/batches/only", as: person).json["owner"] as? UInt32 == Person.bob.uid)
      #expect(try await shared.curl("/v1/events?follow=false", as: person).body.split(separator: "\n").count >= 3)
    }
    let cancelled = try await shared.curl(
      "/v1/jobs:cancel?owner=\(Person.alice.uid)", "-d", #"{"all":true}"#, as: .root)
    #expect(cancelled.json["changed"] as? Int == 1)
    #expect(try await shared.curl("/v1/jobs/\(hers)", as: .alice).json["state"] as? String == "cancelled")
    #expect(try await shared.curl("/v1/jobs/\(his)", as: .bob).json["state"] as? String == "paused")
    // The same with the CLI.
    for (owner, id) in [(Person.alice, hers), (.bob, his)] {
      let uid = "\(owner.uid)"
      let listed = try await shared.ctl("status", "--batch", "b", "--owner", uid, "--format", "name", as: .root)
      #expect(listed.lines == [id], "\(listed.stderr)")
      #expect(try await shared.ctl("batch", "show", "b", "--owner", uid, as: .root).stdout.contains("uid \(uid)"))
    }
    #expect(try await shared.ctl("batch", "ls", as: .root).stdout.contains("OWNER"))
    #expect(try await shared.ctl("batch", "show", "b", as: .root).status == 64)
    // A member cannot name another user.
    #expect(try await shared.curl("/v1/jobs?owner=\(Person.alice.uid)", as: .bob).status == 404)
    #expect(try await shared.curl("/v1/jobs?owner=\(Person.bob.uid)", as: .bob).status == 200)
  }

  @Test("only its user and root can stop the daemon and reload its configuration")
  func administrators() async throws {
    let shared = try await SharedDaemon()
    for route in ["/v1/daemon:stop", "/v1/daemon:reload"] {
      let refused = try await shared.curl(route, "-X", "POST", as: .bob)
      #expect(refused.status == 403 && refused.code == "permission", "\(refused.body)")
    }
    #expect(try await shared.ctl("daemon", "stop", as: .bob).status == 5)
    #expect(try await shared.ctl("daemon", "reload", as: .bob).status == 5)
    #expect(try await shared.curl("/healthz", as: .bob).status == 200)
    for person in [Person.service, .root] {
      #expect(try await shared.curl("/v1/daemon:reload", "-X", "POST", as: person).status == 200)
    }
    #expect(try await shared.curl("/v1/daemon:stop", "-X", "POST", as: .root).status == 202)
    #expect(try await shared.daemon.process?.waitForEnd(timeout: .seconds(60)) == .exit(0))
  }

  @Test("keys and batch names are separate per user, even after a restart")
  func names() async throws {
    let shared = try await SharedDaemon()
    let hers = try await shared.addPaused("a", "--batch", "b", "--key", "k", as: .alice)
    let his = try await shared.addPaused("b", "--batch", "b", "--key", "k", as: .bob)
    #expect(hers != his)
    try await shared.daemon.kill9()
    try await shared.daemon.start()
    #expect(try await shared.addPaused("c", "--key", "k", as: .alice) == hers)
    #expect(try await shared.addPaused("c", "--key", "k", as: .bob) == his)
    #expect(try await shared.ctl("status", "--batch", "b", "--format", "name", as: .alice).lines == [hers])
    #expect(try await shared.ctl("cancel", "--batch", "b", as: .bob).status == 0)
    #expect(try await shared.curl("/v1/jobs/\(hers)", as: .alice).json["state"] as? String == "paused")
    let batch = try await shared.curl("/v1/batches/b", as: .alice).json
    #expect((batch["counts"] as? [String: Int])?["paused"] == 1)
    #expect((batch["counts"] as? [String: Int])?["cancelled"] == 0)
  }

  @Test("a destination of another user's job is reported as in use, without its owner")
  func destinations() async throws {
    let shared = try await SharedDaemon()
    let path = shared.directory(of: .alice) + "/same"
    func body(_ name: String) -> String {
      #"{"url":"http://127.0.0.1:9/\#(name)","destination":"\#(path)","paused":true}"#
    }
    // Numbers that occur in no other text.
    for _ in 0..<20 { _ = try await shared.addPaused("x", "-o", UUID().uuidString, as: .alice) }
    let added = try await shared.curl("/v1/jobs", "-d", body("hers"), as: .alice)
    let id = try #require(added.json["id"] as? Int)
    let refused = try await shared.curl("/v1/jobs", "-d", body("his"), as: .bob)
    #expect(refused.status == 409 && refused.code == "destination-exists")
    #expect(refused.json["detail"] as? String == "cannot write to \(path): it is in use")
    let own = try await shared.curl("/v1/jobs", "-d", body("again"), as: .alice)
    #expect((own.json["detail"] as? String)?.contains("job \(id) is writing there") == true)
  }

  @Test("an event stream has only the user's own jobs, from any number")
  func events() async throws {
    let shared = try await SharedDaemon()
    let server = try LoopbackServer(.file(size: 8 << 20).dripping(bytesPerSecond: 64 << 10))
    let his = try await shared.addPaused("first", as: .bob)
    let stream = try ChildProcess(
      shared.curlLaunch("/v1/events?progress=true", ["-H", "Last-Event-ID: 0"], as: .bob))
    try await stream.waitForOutput("\"job\":\(his),")
    let all = try ChildProcess(shared.curlLaunch("/v1/events?progress=true&since=0", [], as: .service))
    let hers = try await shared.ctl("add", server.url("/a"), as: .alice).lines.first ?? ""
    try await all.waitForOutput("event: progress\n")
    #expect(try await shared.ctl("remove", hers, as: .alice).status == 0)
    try await all.waitForOutput("event: removed\n")
    let last = try await shared.addPaused("last", as: .bob)
    try await stream.waitForOutput("\"job\":\(last),")
    for process in [stream, all] { process.kill(SIGTERM) }
    let (seen, everything) = (try await stream.result().stdout, try await all.result().stdout)
    #expect(!seen.contains("\"job\":\(hers)") && !seen.contains("event: progress"), "\(seen)")
    #expect(everything.contains("\"job\":\(hers)") && everything.contains("\"job\":\(his)"))
    // The history of a removed job still belongs to its owner.
    let history = try await shared.curl("/v1/events?follow=false&jobs=\(hers)", as: .alice).body
    #expect(history.contains("\"kind\":\"removed\""))
    #expect(try await shared.curl("/v1/events?follow=false&jobs=\(hers)", as: .bob).body.isEmpty)
  }
}
