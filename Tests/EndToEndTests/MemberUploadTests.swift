import Foundation
import Glibc
import TestSupport
import Testing

/// Members cannot affect each other's uploads, spooled bytes and files.
@Suite(
  "uploads of members", .timeLimit(.minutes(10)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberUploadTests {
  private func upload(_ fields: String) -> String {
    #"{"kind":"upload","destination":"http://127.0.0.1:9/a","paused":true,\#(fields)}"#
  }

  @Test("a spool token is valid only for the user who created it, even after the daemon was killed")
  func spools() async throws {
    let shared = try await SharedDaemon()
    let made = try await shared.curl("/v1/spool?name=dump.sql", "-X", "POST", as: .alice)
    let token = try #require(made.json["token"] as? String)
    let path = "/v1/spool/\(token)"
    #expect(try await shared.curl(path + "?offset=0", "-X", "PUT", "-d", "secret", as: .alice).status == 200)
    try await shared.daemon.kill9()
    try await shared.daemon.start()
    let none = String(repeating: "0", count: 32)
    for (suffix, arguments) in [
      ("", []), ("", ["-X", "DELETE"]), ("?offset=0", ["-X", "PUT", "-d", "stolen"]),
      ("?offset=6", ["-X", "PUT", "-d", "more"]),
    ] as [(String, [String])] {
      func ask(_ token: String) async throws -> String {
        try await shared.curlLaunch("/v1/spool/\(token)\(suffix)", ["-w", "\n%{http_code}"] + arguments, as: .bob)
          .run().stdout.replacing(token, with: "TOKEN")
      }
      let there = try await ask(token)
      #expect(there == (try await ask(none)) && there.hasSuffix("404"), "\(arguments): \(there)")
    }
    func add(_ token: String) async throws -> SharedDaemon.Answer {
      let answer = try await shared.curl("/v1/jobs", "-d", upload(#""spool":"\#(token)""#), as: .bob)
      return .init(status: answer.status, body: answer.body.replacing(token, with: "TOKEN"))
    }
    let (there, missing) = (try await add(token), try await add(none))
    #expect(there == missing && there.status == 404, "\(there.body)")
    #expect(try await shared.curl(path, as: .alice).json["bytes"] as? Int == 6)
    #expect(try await shared.curl(path, as: .root).json["bytes"] as? Int == 6)
    #expect(try await shared.curl("/v1/jobs", "-d", upload(#""spool":"\#(token)""#), as: .alice).status == 201)
    // Bob's known key does not delete a token that is not his.
    let key = #""source":"\#(try shared.file("f", "f", of: .bob))","key":"k""#
    #expect(try await shared.curl("/v1/jobs", "-d", upload(key), as: .bob).status == 201)
    _ = try await shared.curl("/v1/jobs", "-d", upload(#""spool":"\#(token)","key":"k""#), as: .bob)
    #expect(try await shared.curl(path, as: .alice).json["bytes"] as? Int == 6)
  }

  @Test("a paused upload holds up its owner's later uploads to the same URL, and not another user's")
  func line() async throws {
    let shared = try await SharedDaemon()
    func add(_ name: String, as person: SharedDaemon.Person) async throws -> SharedDaemon.Answer {
      let path = try shared.file(name, name, of: person)
      return try await shared.curl("/v1/jobs", "-d", upload(#""source":"\#(path)""#), as: person)
    }
    let first = try #require(try await add("a", as: .alice).json["id"] as? Int)
    let second = try await add("b", as: .bob)
    #expect(second.json["id"] is Int && second.json["warning"] == nil, "\(second.body)")
    let third = try await add("c", as: .alice)
    let id = try #require(third.json["id"] as? Int)
    #expect(third.json["warning"] as? String == "job \(id) waits for job \(first), which uploads to the same URL")
  }

  @Test("a member's job deletes no file of another user, neither a named one nor one swapped in later")
  func files() async throws {
    let shared = try await SharedDaemon()
    let victim = try shared.file("victim.csv", "hers", of: .alice)
    for action in ["delete", "move=\(shared.directory(of: .bob))"] {
      let fields = #""source":"\#(victim)","onSuccess":"\#(action)""#
      let refused = try await shared.curl("/v1/jobs", "-d", upload(fields), as: .bob)
      #expect(refused.status == 403 && refused.code == "permission", "\(refused.body)")
    }
    let server = try LoopbackServer(bodies: .byScript) { _ in
      [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let own = try shared.file("own.csv", "his", of: .bob)
    let added = try await shared.ctl(
      "upload", own, "--to", server.url("/a"), "--protocol", "plain", "--on-success", "delete", "--paused", as: .bob)
    let id = try #require(added.lines.first)
    // Bob's hard link to Alice's file.
    unlink(own)
    try #require(link(victim, own) == 0)
    #expect(try await shared.ctl("resume", id, as: .bob).status == 0)
    _ = try await shared.ctl("wait", id, as: .bob)
    try await eventually("the file action has ended, or the upload was refused") {
      let job = try await shared.curl("/v1/jobs/\(id)", as: .bob).json
      let action = (job["action"] as? [String: Any])?["state"] as? String
      return action == "failed" || job["state"] as? String == "failed"
    }
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "hers")
    #expect(FileManager.default.fileExists(atPath: own))
    // The member's own files are deleted.
    let third = try shared.file("third.csv", "his", of: .bob)
    let deleted = try await shared.ctl(
      "upload", third, "--to", server.url("/b"), "--protocol", "plain", "--on-success", "delete", "--wait", as: .bob)
    #expect(deleted.status == 0 && !FileManager.default.fileExists(atPath: third), "\(deleted.stderr)")
  }
}
