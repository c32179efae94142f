import Foundation
import Glibc
import TestSupport
import Testing

/// `folder add|ls|remove`.
@Suite("watched folders", .timeLimit(.minutes(5))) struct FolderTests {
  /// A server that takes every PUT.
  private static func server() throws -> LoopbackServer { try LoopbackServer { _ in .response(201) } }

  private func puts(_ server: LoopbackServer) -> [String] {
    server.requests.filter { $0.method == "PUT" }.map(\.path).sorted()
  }

  private func waitForPuts(_ server: LoopbackServer, _ paths: [String]) async throws {
    try await eventually("uploads of \(paths)") { puts(server) == paths }
  }

  /// A kill before the end of an upload is stored would send it again.
  private func waitForEnds(_ daemon: Daemon) async throws {
    try await eventually("the ends of all uploads") {
      try await daemon.jobs().allSatisfy { $0.state == "completed" }
    }
  }

  private func add(_ daemon: Daemon, _ arguments: String...) async throws -> String {
    let result = try await daemon.run(["folder", "add"] + arguments + ["--protocol", "plain"])
    #expect(result.status == 0, "\(result.stderr)")
    return try #require(result.lines.first)
  }

  private func folders(_ daemon: Daemon) async throws -> [[String: Any]] {
    let result = try await daemon.ctl("folder", "ls", "--format", "json")
    return try #require(try JSONSerialization.jsonObject(with: result.output) as? [[String: Any]])
  }

  @Test("what is there and what lands is uploaded once per version, also over restarts and kills")
  func uploads() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    try daemon.directory.file("out/old", text: "1")
    for name in [".hidden", "a.part", "b.tmp", "sub/deep"] { try daemon.directory.file("out/" + name, text: "1") }
    let id = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "200ms")
    try await waitForPuts(server, ["/in/old"])
    // By a rename, as a hard link, and written in place.
    try daemon.directory.file("moved", text: "2")
    try FileManager.default.moveItem(atPath: daemon.directory.path("moved"), toPath: watched + "/moved")
    try await waitForPuts(server, ["/in/moved", "/in/old"])
    try FileManager.default.linkItem(atPath: watched + "/moved", toPath: watched + "/linked")
    try daemon.directory.file("out/written", text: "3")
    try await waitForPuts(server, ["/in/linked", "/in/moved", "/in/old", "/in/written"])
    try await waitForEnds(daemon)
    try await daemon.restart()
    try await daemon.restart(by: SIGKILL)
    // Each round of the folder's loop is proved by a later file.
    try daemon.directory.file("out/last", text: "4")
    try await waitForPuts(server, ["/in/last", "/in/linked", "/in/moved", "/in/old", "/in/written"])
    // Another version.
    try daemon.directory.file("out/old", text: "changed")
    try await waitForPuts(server, ["/in/last", "/in/linked", "/in/moved", "/in/old", "/in/old", "/in/written"])
    // A new name is a new file.
    try FileManager.default.moveItem(atPath: watched + "/last", toPath: watched + "/renamed")
    try await eventually("the upload of the renamed file") { puts(server).contains("/in/renamed") }
    #expect(puts(server).count == 7)
    let listed = try #require(try await folders(daemon).first)
    #expect(
      listed["id"] as? Int == Int(id) && listed["directory"] as? String == watched && listed["uploads"] as? Int == 7)
    #expect(listed["error"] is NSNull && listed["settle"] as? Double == 0.2)
    #expect(try await daemon.ctl("folder", "ls").stdout.contains(watched))
  }

  @Test("a file that a program has open for writing waits until it is closed")
  func written() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    let descriptor = open(watched + "/slow", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    #expect(Glibc.write(descriptor, "begin", 5) == 5)
    _ = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "100ms")
    // Several rounds pass: each of these files takes one.
    for name in ["a", "b", "c"] {
      try daemon.directory.file("out/" + name, text: name)
      try await eventually("the upload of \(name)") { puts(server).contains("/in/\(name)") }
    }
    #expect(!puts(server).contains("/in/slow"))
    #expect(Glibc.write(descriptor, " end", 4) == 4)
    close(descriptor)
    try await waitForPuts(server, ["/in/a", "/in/b", "/in/c", "/in/slow"])
    #expect(server.requests.first { $0.path == "/in/slow" }?.body == Data("begin end".utf8))
  }

  @Test("subdirectories with --recursive, also new ones; what is there is passed over with --new-only, over a restart")
  func recursive() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    for name in ["old", "sub/old"] { try daemon.directory.file("out/" + name, text: "1") }
    _ = try await add(
      daemon, watched, "--to", server.url("/in/"), "--settle", "100ms", "--recursive", "--new-only", "--batch", "landed"
    )
    try daemon.directory.file("out/sub/new", text: "2")
    try daemon.directory.file("out/fresh/deep/new", text: "3")
    try await waitForPuts(server, ["/in/fresh/deep/new", "/in/sub/new"])
    try await waitForEnds(daemon)
    try await daemon.restart(by: SIGKILL)
    try daemon.directory.file("out/sub/later", text: "4")
    try await waitForPuts(server, ["/in/fresh/deep/new", "/in/sub/later", "/in/sub/new"])
    #expect(try await daemon.jobs("--batch", "landed").count == 3)
  }

  @Test("uploaded files are moved or deleted", arguments: ["move", "delete"])
  func actions(_ action: String) async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    let sent = try daemon.directory.directory("sent")
    _ = try await add(
      daemon, watched, "--to", server.url("/in/"), "--settle", "100ms", "--on-success",
      action == "move" ? "move=\(sent)" : action)
    for name in ["a", "b"] { try daemon.directory.file("out/" + name, text: name) }
    try await waitForPuts(server, ["/in/a", "/in/b"])
    try await eventually("the files to be gone") { try daemon.directory.names(in: "out").isEmpty }
    #expect(try daemon.directory.names(in: "sent") == (action == "move" ? ["a", "b"] : []))
  }

  @Test("a kill between the add of a job and its note adds nothing twice")
  func killed() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    _ = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "100ms")
    let log = daemon.statePath("transferd.db-wal")
    let trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [log], doing: "signal=KILL:when=2")
    try daemon.directory.file("out/a", text: "a")
    try await trap.waitForHit(daemon)
    try await daemon.start()
    try daemon.directory.file("out/b", text: "b")
    try await eventually("both uploads") { Set(puts(server)) == ["/in/a", "/in/b"] }
    #expect(try await daemon.jobs().count == 2)
  }

  @Test("thousands of files at once are uploaded once each")
  func many() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    _ = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "300ms", "--batch", "many")
    for number in 0..<3000 { try daemon.directory.file("out/\(number)", text: "") }
    try await eventually("all uploads", timeout: .seconds(200)) { puts(server).count >= 3000 }
    #expect(puts(server).count == 3000 && Set(puts(server)).count == 3000)
    let batch = try await daemon.ctl("batch", "show", "many", "--format", "json").stdout
    #expect(batch.contains(#""completed":3000"#), "\(batch)")
  }

  @Test("a directory that vanishes is reported, and is watched again when it is back")
  func vanishes() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    _ = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "100ms")
    try FileManager.default.removeItem(atPath: watched)
    try await eventually("the problem") {
      try await (folders(daemon).first?["error"] as? String)?.contains("cannot scan") == true
    }
    try daemon.directory.file("out/back", text: "1")
    try await waitForPuts(server, ["/in/back"])
    #expect(try await folders(daemon).first?["error"] is NSNull)
  }

  @Test("a folder whose path leads to another directory later is watched there")
  func renamedAbove() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    try daemon.directory.directory("mount/point")
    let watched = try daemon.directory.directory("mount/point/out")
    _ = try await add(daemon, watched, "--to", server.url("/in/"), "--settle", "100ms")
    try daemon.directory.file("mount/point/out/first", text: "1")
    try await waitForPuts(server, ["/in/first"])
    // The kernel reports nothing of this about the folder, as with a mount over it.
    try FileManager.default.moveItem(
      atPath: daemon.directory.path("mount"), toPath: daemon.directory.path("mount.old"))
    try daemon.directory.file("mount/point/out/second", text: "2")
    try await waitForPuts(server, ["/in/first", "/in/second"])
  }

  @Test("a removed folder is no longer watched, its jobs stay, and an unknown id is exit status 4")
  func removed() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let (first, second) = (try daemon.directory.directory("one"), try daemon.directory.directory("two"))
    let id = try await add(daemon, first, "--to", server.url("/one/"), "--settle", "100ms")
    _ = try await add(daemon, second, "--to", server.url("/two/"), "--settle", "100ms")
    try daemon.directory.file("one/a", text: "1")
    try await waitForPuts(server, ["/one/a"])
    #expect(try await daemon.ctl("folder", "remove", id).status == 0)
    try daemon.directory.file("one/b", text: "1")
    try daemon.directory.file("two/a", text: "1")
    try daemon.directory.file("two/b", text: "1")
    try await waitForPuts(server, ["/one/a", "/two/a", "/two/b"])
    #expect(try await daemon.jobs().count == 3)
    #expect(try await daemon.ctl("folder", "remove", id).status == 4)
    #expect(try await daemon.ctl("folder", "remove", "x").status == 64)
    #expect(try await daemon.curl("/v1/folders/\(id)", "-X", "DELETE").status == 404)
  }

  @Test("mistakes are named, and nothing is watched")
  func mistakes() async throws {
    let daemon = try await Daemon()
    let watched = try daemon.directory.directory("out")
    let sent = try daemon.directory.directory("out/sent")
    let to = ["--to", "http://127.0.0.1:9/in/"]
    let table: [([String], Int32)] = [
      ([watched], 64), ([watched] + to + ["--on-success", "delete"], 64),
      ([watched] + to + ["--on-success", "move=\(sent)"], 64),
      ([watched] + to + ["--on-success", "move=\(sent)", "--settle", "1", "--recursive"], 64),
      ([watched] + to + ["--key", "{path}"], 64), ([watched] + to + ["--paused"], 64),
      ([watched] + to + ["--settle", "soon"], 64), ([watched] + to + ["--header", "Authorization: x"], 64),
      ([watched, "--to", "http://me:pass@127.0.0.1:9/"], 64), ([watched, "--to", "http://h/{sha256}"], 64),
      ([watched, "--to", "gopher://h/"], 64), ([watched, "--to", "http://127.0.0.1:9/in"], 64),
      ([daemon.directory.path("none")] + to, 1),
      // Regression: these folders were watched, and none of their files was uploaded.
      ([watched] + to + ["--after", "99"], 4), ([watched] + to + ["--after", "batch:none"], 4),
      ([watched] + to + ["--cookies", daemon.directory.path("none")], 1),
    ]
    for (arguments, status) in table {
      let result = try await daemon.run(["folder", "add"] + arguments)
      #expect(result.status == status && !result.stderr.isEmpty, "\(arguments): \(result.status) \(result.stderr)")
    }
    let file = try daemon.directory.file("out/file", text: "1")
    let named = try await daemon.run(["folder", "add", file] + to)
    // Regression: it said that the file does not exist.
    #expect(named.status == 1 && named.stderr.contains("\(file) is not a directory"), "\(named.stderr)")
    #expect(try await folders(daemon).isEmpty)
    let body = #"{"directory":"\#(watched)","to":"http://127.0.0.1:9/","source":"/x"}"#
    #expect(try await daemon.curl("/v1/folders", "-d", body).status == 400)
  }

  @Test(
    "members may watch only directories below memberWriteRoots, and see and remove only their own folders",
    .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
  func members() async throws {
    let server = try Self.server()
    let shared = try await SharedDaemon()
    func body(_ directory: String, _ more: String = "") -> String {
      #"{"directory":"\#(directory)","to":"\#(server.url("/in/"))","protocol":"plain","settle":"100ms"\#(more)}"#
    }
    let own = shared.directory(of: .bob)
    for refused in [
      body("/etc"), body(own, #","insecure":true"#), body(own, #","credentials":"env:HOME""#),
      body(own, #","onSuccess":"move=/tmp""#),
    ] {
      #expect(try await shared.curl("/v1/folders", "-d", refused, as: .bob).status == 403, "\(refused)")
    }
    #expect(try await shared.curl("/v1/folders", "-d", body(own), as: .bob).status == 201)
    #expect(try await shared.curl("/v1/folders", as: .alice).body == "[]\n")
    #expect(try await shared.curl("/v1/folders/1", "-X", "DELETE", as: .alice).status == 404)
    try shared.file("mine", "text", of: .bob)
    try await waitForPuts(server, ["/in/mine"])
    #expect(try await shared.curl("/v1/folders/1", "-X", "DELETE", as: .bob).status == 204)
  }
}
