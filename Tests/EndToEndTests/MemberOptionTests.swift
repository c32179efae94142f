import Foundation
import TestSupport
import Testing

/// Options by which a job of a member could reach further than the member may.
@Suite(
  "options of members' jobs", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberOptionTests {
  private typealias Person = SharedDaemon.Person

  private static func post(
    _ shared: SharedDaemon, _ path: String, _ body: [String: Any], as person: Person
  ) async throws -> SharedDaemon.Answer {
    try await shared.curl(
      path, "-d", "@-", input: try JSONSerialization.data(withJSONObject: body), as: person)
  }

  @Test("a member's mirror on this machine is refused with 403, and no connection is made")
  func mirrors() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "secret") }
    let shared = try await SharedDaemon(environment: ["TRANSFERD_REDIRECTS": ""])
    for mirror in [server.url("/a"), "http://localhost:\(server.port)/a"] {
      let job: [String: Any] = [
        "source": "http://192.0.2.1/a", "destination": shared.directory(of: .alice) + "/a", "mirrors": [mirror],
      ]
      let answer = try await Self.post(shared, "/v1/jobs", job, as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(answer)")
    }
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
        var answer = try await Self.post(shared, "/v1/jobs", job, as: .bob)
        answer.body = answer.body.replacing("\(target)".replacing("batch:", with: ""), with: "IT")
        answers.append(answer)
      }
      #expect(answers[0] == answers[1] && answers[0].status >= 400, "\(answers)")
    }
    // The daemon's user may.
    let job: [String: Any] = [
      "source": "http://127.0.0.1:9/c", "destination": shared.daemon.downloads + "/c", "after": [id], "paused": true,
    ]
    #expect(try await Self.post(shared, "/v1/jobs", job, as: .service).status == 201)
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
      let answer = try await Self.post(shared, "/v1/jobs", job.merging([name: value]) { $1 }, as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(name) \(value): \(answer)")
    }
    for (name, value) in [("partDir", mine), ("onSuccess", "move=" + shared.daemon.downloads)] {
      let own = job.merging([name: value, "destination": "\(mine)/\(name)"]) { $1 }
      let answer = try await Self.post(shared, "/v1/jobs", own, as: .alice)
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
      let answer = try await Self.post(
        shared, "/v1/folders", ["directory": directory, "to": "http://192.0.2.1/in/"], as: .alice)
      #expect(answer.status == 403, "\(directory): \(answer)")
    }
    let local = try await Self.post(
      shared, "/v1/folders", ["directory": mine, "to": server.url("/in/")], as: .alice)
    #expect(local.status == 403 && server.counters.connections == 0, "\(local)")
    let added = try await Self.post(
      shared, "/v1/folders", ["directory": mine, "to": "http://192.0.2.1/in/", "newOnly": true], as: .alice)
    #expect(added.status == 201, "\(added)")
    let id = try #require(added.json["id"] as? Int)
    #expect(try await shared.curl("/v1/folders", as: .bob).body == "[]")
    let (there, missing) = (
      try await shared.curl("/v1/folders/\(id)", "-X", "DELETE", as: .bob),
      try await shared.curl("/v1/folders/999", "-X", "DELETE", as: .bob)
    )
    #expect(there.status == 404 && missing.status == 404)
    #expect(there.body.replacing("\(id)", with: "ID") == missing.body.replacing("999", with: "ID"))
    #expect(try await shared.ctl("folder", "ls", as: .alice).lines.count >= 1)
    #expect(try await shared.curl("/v1/folders/\(id)", "-X", "DELETE", as: .alice).status == 204)
  }
}
