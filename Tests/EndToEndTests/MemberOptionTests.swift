import Foundation
import TestSupport
import Testing

/// Options by which a job of a member could reach further than the member may.
@Suite(
  "options of members' jobs", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberOptionTests {
  @Test("a member's mirror on this machine is refused with 403, and no connection is made")
  func mirrors() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "secret") }
    let shared = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": ""])
    func add(_ mirror: String) async throws -> SharedDaemon.Answer {
      let job: [String: Any] = [
        "source": "http://1.1.1.1/a", "destination": shared.directory(of: .alice) + "/a", "mirrors": [mirror],
        "paused": true,
      ]
      return try await shared.post(job, as: .alice)
    }
    for mirror in [server.url("/a"), "http://localhost:\(server.port)/a"] {
      let answer = try await add(mirror)
      #expect(answer.status == 403 && answer.code == "permission", "\(answer)")
    }
    #expect(try await add("http://1.0.0.1/a").status == 201)
    #expect(server.counters.connections == 0)
  }

  @Test("a job cannot wait for another user's job or batch; they are missing in the same words as those that are")
  func after() async throws {
    let shared = try await SharedDaemon()
    let id = try #require(Int(try await shared.addPaused("a", "--batch", "night", as: .alice)))
    let others: [(there: Any, missing: Any)] = [(id, 999_999), ("batch:night", "batch:nowhere")]
    for (there, missing) in others {
      var answers: [SharedDaemon.Answer] = []
      for target in [there, missing] {
        let job: [String: Any] = [
          "source": "http://127.0.0.1:9/b", "destination": shared.directory(of: .bob) + "/b", "after": [target],
          "paused": true,
        ]
        var answer = try await shared.post(job, as: .bob)
        answer.body = answer.body.replacing("\(target)".replacing("batch:", with: ""), with: "IT")
        answers.append(answer)
      }
      #expect(answers[0] == answers[1] && answers[0].status >= 400, "\(answers)")
    }
    // The daemon's user may.
    let job: [String: Any] = [
      "source": "http://127.0.0.1:9/c", "destination": shared.daemon.downloads + "/c", "after": [id], "paused": true,
    ]
    #expect(try await shared.post(job, as: .service).status == 201)
  }

  @Test("part files and moved files stay below the member's roots; interfaces are the daemon's user's choice")
  func places() async throws {
    let shared = try await SharedDaemon()
    let mine = shared.directory(of: .alice)
    let hidden = try shared.daemon.directory.directory("hidden")
    let job: [String: Any] = ["source": "http://127.0.0.1:9/a", "destination": mine + "/a", "paused": true]
    for (name, value) in [
      ("partDir", hidden), ("partDir", shared.daemon.directory.path("none")), ("onSuccess", "move=" + hidden),
      ("interface", "lo"),
    ] {
      let answer = try await shared.post(job.merging([name: value]) { $1 }, as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(name) \(value): \(answer)")
    }
    for (name, value) in [("partDir", mine), ("onSuccess", "move=" + shared.daemon.downloads)] {
      let own = job.merging([name: value, "destination": "\(mine)/\(name)"]) { $1 }
      let answer = try await shared.post(own, as: .alice)
      #expect(answer.status == 201, "\(name) \(value): \(answer)")
    }
  }

  @Test("a member watches directories below the roots only, and neither sees nor removes another user's folder")
  func folders() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let shared = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": ""])
    let (mine, hidden) = (shared.directory(of: .alice), try shared.daemon.directory.directory("hidden"))
    symlink(hidden, mine + "/link")
    for directory in [hidden, mine + "/link", shared.daemon.directory.path("none")] {
      let answer = try await shared.post(
        ["directory": directory, "to": "http://1.1.1.1/in/"], to: "/v1/folders", as: .alice)
      #expect(answer.status == 403, "\(directory): \(answer)")
    }
    let local = try await shared.post(
      ["directory": mine, "to": server.url("/in/")], to: "/v1/folders", as: .alice)
    #expect(local.status == 403 && server.counters.connections == 0, "\(local)")
    let added = try await shared.post(
      ["directory": mine, "to": "http://1.1.1.1/in/", "newOnly": true], to: "/v1/folders", as: .alice)
    #expect(added.status == 201, "\(added)")
    let id = try #require(added.json["id"] as? Int)
    let others = try await shared.curl("/v1/folders", as: .bob)
    #expect(others.status == 200 && others.body.trimmingCharacters(in: .newlines) == "[]", "\(others)")
    let (there, missing) = (
      try await shared.curl("/v1/folders/\(id)", "-X", "DELETE", as: .bob),
      try await shared.curl("/v1/folders/999", "-X", "DELETE", as: .bob)
    )
    #expect(there.status == 404 && missing.status == 404)
    #expect(there.body.replacing("\(id)", with: "ID") == missing.body.replacing("999", with: "ID"))
    #expect(try await shared.ctl("folder", "ls", as: .alice).lines.count >= 1)
    #expect(try await shared.curl("/v1/folders/\(id)", "-X", "DELETE", as: .alice).status == 204)
  }

  @Test(
    "programs and keys that the configuration names for webhooks and hooks are closed to members, after a reload too")
  func hooks() async throws {
    let shared = try await SharedDaemon()
    let mine = shared.directory(of: .alice)
    for name in ["tell", "key", "sign"] { try shared.file(name, "text", of: .alice) }
    let roots = "  memberReadRoots: [%DIR/alice]\n  memberWriteRoots: [%DIR/alice]\n"
    func answers() async throws -> [Int] {
      var statuses: [Int] = []
      for name in ["tell", "key", "sign"] {
        let job: [String: Any] = [
          "source": "http://127.0.0.1:9/a", "destination": "\(mine)/\(name)", "replace": true, "paused": true,
        ]
        let answer = try await shared.post(job, as: .alice)
        statuses.append(answer.status)
        if let id = answer.json["id"] as? Int {
          _ = try await shared.curl("/v1/jobs/\(id)", "-X", "DELETE", as: .alice)
        }
        let upload: [String: Any] = [
          "kind": "upload", "source": "\(mine)/\(name)", "destination": "http://127.0.0.1:9/\(name)", "paused": true,
        ]
        statuses.append(try await shared.post(upload, as: .alice).status)
      }
      return statuses
    }
    #expect(try await answers() == [201, 201, 201, 201, 201, 201])
    try shared.configure(
      "transferd:\n\(roots)" + """
          hooks:
            onBatchEnd: [/bin/sh, %DIR/alice/tell]
          webhooks:
            - {url: "http://127.0.0.1:9/", secret: "file:%DIR/alice/key", events: [batch-end]}
            - {url: "http://127.0.0.1:9/b", secret: "exec:%DIR/alice/sign", events: [batch-end]}

        """)
    shared.daemon.signal(SIGHUP)
    try await shared.daemon.process?.waitForErrors("configuration reloaded")
    #expect(try await answers() == [403, 403, 403, 403, 403, 403])
  }
}
