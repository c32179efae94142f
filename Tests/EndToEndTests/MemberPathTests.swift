import Foundation
import Glibc
import TestSupport
import Testing

/// The paths that jobs may use, for the service's own user and for members of the socket's group.
@Suite(
  "paths of members", .timeLimit(.minutes(5)), .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberPathTests {
  /// Members may use every path that is not protected.
  private static let open = """
    transferd:
      memberReadRoots: [%DIR]
      memberWriteRoots: [%DIR]
    """

  /// The service's files, which members must not reach.
  private static func prepare(_ shared: SharedDaemon) throws {
    for (name, text) in [(".ssh/known_hosts", "host key"), (".netrc", "machine m login l password secret")] {
      let path = try shared.daemon.directory.file("home/" + name, text: text)
      for path in [path, (path as NSString).deletingLastPathComponent] {
        chown(path, SharedDaemon.Person.service.uid, SharedDaemon.Person.service.uid)
      }
    }
  }

  private static func download(
    _ shared: SharedDaemon, to path: String, url: String = "http://127.0.0.1:9/x", as person: SharedDaemon.Person
  ) async throws -> SharedDaemon.Answer {
    try await shared.post(
      ["source": url, "destination": path, "replace": true, "createDirectories": true, "paused": true], as: person)
  }

  /// The files that must be unchanged after each attack.
  private struct Untouched {
    let shared: SharedDaemon
    let inodes: [String: UInt64]

    static let names = ["state/transferd.db", "state/transferd.lock", "home/.ssh/known_hosts", "home/.netrc"]

    private static func inode(_ path: String) -> UInt64 {
      var status = stat()
      return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    init(_ shared: SharedDaemon) {
      self.shared = shared
      let path = shared.daemon.directory.path
      inodes = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Self.inode(path + "/" + $0)) })
    }

    func check(_ location: SourceLocation = #_sourceLocation) throws {
      for (name, inode) in inodes {
        #expect(
          inode != 0 && Self.inode(shared.daemon.directory.path(name)) == inode, "\(name)", sourceLocation: location)
      }
      #expect(try shared.daemon.directory.names(in: "home") == [".netrc", ".ssh"], sourceLocation: location)
      #expect(try shared.daemon.directory.names(in: "home/.ssh") == ["known_hosts"], sourceLocation: location)
      let state = try shared.daemon.directory.names(in: "state")
      #expect(state.allSatisfy { $0.hasPrefix("transferd.") || $0 == "relay" }, "\(state)", sourceLocation: location)
      #expect(try shared.daemon.directory.names(in: "state/relay").isEmpty, sourceLocation: location)
    }
  }

  @Test("the state directory and the socket are closed to everybody, and the home to members, by every path")
  func closed() async throws {
    let shared = try await SharedDaemon(config: Self.open)
    try Self.prepare(shared)
    let untouched = Untouched(shared)
    let directory = shared.daemon.directory
    symlink("../state", directory.path("alice/to-state"))
    symlink(directory.path("home"), directory.path("alice/to-home"))
    symlink("to-home", directory.path("alice/chain"))
    for name in [
      "state/transferd.db", "state/transferd.lock", "state/transferd.db-wal", "state/new/er/x", "run/s",
      "alice/to-state/transferd.db", "alice/to-state/new/x",
    ] {
      for person in [SharedDaemon.Person.alice, .service, .root] {
        let answer = try await Self.download(shared, to: directory.path(name), as: person)
        #expect(answer.status == 403 && answer.code == "permission", "\(name) \(person) \(answer)")
        #expect(answer.body.contains("it belongs to transferd itself"))
      }
    }
    for name in [
      "home/.ssh/known_hosts", "home/.aws/config", "home/x", "alice/to-home/.ssh/known_hosts",
      "alice/chain/.aws/config",
      "alice/to-home/x",
    ] {
      let refused = try await Self.download(shared, to: directory.path(name), as: .alice)
      #expect(refused.status == 403 && refused.code == "permission", "\(name) \(refused)")
      #expect(try await Self.download(shared, to: directory.path(name), as: .service).status == 201, "\(name)")
    }
    // The socket's directory is shared here: other files in it are allowed.
    #expect(try await Self.download(shared, to: directory.path("run/other"), as: .service).status == 201)
    #expect(try await Self.download(shared, to: directory.path("alice/x"), as: .alice).status == 201)
    let result = try await shared.ctl(
      "add", "http://127.0.0.1:9/x", "--paused", "--replace", "-o", directory.path("state/transferd.db"), as: .alice)
    #expect(result.status == 5 && result.stderr.contains("it belongs to transferd itself"), "\(result.stderr)")
    try untouched.check()
  }

  @Test(
    "if a parent directory becomes a link between add and attempt, the job fails and nothing is touched",
    arguments: [
      ("state", "transferd.db"), ("state", "transferd.lock"), ("home/.ssh", "known_hosts"), ("home", ".aws/config"),
      ("home", ".netrc"), ("state", "new/er/x"), ("run", "s"),
    ])
  func swapped(_ target: String, _ name: String) async throws {
    let shared = try await SharedDaemon(config: Self.open)
    try Self.prepare(shared)
    let untouched = Untouched(shared)
    let directory = shared.daemon.directory
    let server = try LoopbackServer(FileBehaviour.file(size: 100_000).handler())
    chmod(try directory.directory("alice/in"), 0o777)
    let added = try await Self.download(
      shared, to: directory.path("alice/in/" + name), url: server.url("/f"), as: .alice)
    #expect(added.status == 201, "\(added)")
    let id = "\(added.json["id"] ?? "")"
    rename(directory.path("alice/in"), directory.path("alice/before"))
    symlink("../" + target, directory.path("alice/in"))
    #expect(try await shared.ctl("resume", id, as: .alice).status == 0)
    #expect(try await shared.ctl("wait", id, as: .alice).status == 1)
    let job = try await shared.daemon.job(id)
    #expect(job.state == "failed" && job.error?.code == "permission" && job.error?.transient == false)
    #expect(server.requests.isEmpty)
    try untouched.check()
    // The daemon still works.
    #expect(try await shared.curl("/healthz", as: .alice).status == 200)
    try await shared.daemon.restart()
    #expect(try await shared.daemon.job(id).state == "failed")
  }

  @Test("members stay below the configured roots, of which there are none by default; a reload changes them")
  func roots() async throws {
    let shared = try await SharedDaemon(config: "transferd:\n  logLevel: notice\n")
    let directory = shared.daemon.directory
    let source = try shared.file("a.txt", "text", of: .alice)
    let upload: [String: Any] = [
      "kind": "upload", "source": source, "destination": "http://127.0.0.1:9/a", "paused": true,
    ]
    let none = try await Self.download(shared, to: directory.path("alice/x"), as: .alice)
    #expect(none.status == 403 && none.body.contains("memberWriteRoots"), "\(none)")
    let noSource = try await shared.post(upload, as: .alice)
    #expect(noSource.status == 403 && noSource.body.contains("memberReadRoots"), "\(noSource)")
    // Users who are not members need no roots.
    #expect(try await Self.download(shared, to: directory.path("downloads/x"), as: .root).status == 201)
    #expect(try await shared.post(upload, as: .service).status == 201)
    try shared.configure(
      "transferd:\n  memberReadRoots: [%DIR/alice]\n  memberWriteRoots: [%DIR/alice/new, %DIR/alice]\n")
    shared.daemon.signal(SIGHUP)
    try await shared.daemon.process?.waitForErrors("configuration reloaded")
    #expect(try await Self.download(shared, to: directory.path("alice/x"), as: .alice).status == 201)
    #expect(try await shared.post(upload, as: .alice).status == 201)
    // Outside the roots the response is the same for existing and missing files.
    symlink("../bob", directory.path("alice/to-bob"))
    symlink(directory.path("none"), directory.path("alice/dangling"))
    for name in ["bob/x", "none/x", "alice/to-bob/x", "alice/dangling/x", "downloads/x"] {
      let answer = try await Self.download(shared, to: directory.path(name), as: .alice)
      #expect(answer.status == 403 && answer.body.contains("memberWriteRoots"), "\(name) \(answer)")
    }
    let bobs = try shared.file("b.txt", "bob's", of: .bob)
    for path in [bobs, directory.path("bob/none"), directory.path("alice/to-bob/b.txt"), "/etc/shadow", "/etc/none"] {
      var job = upload
      job["source"] = path
      let answer = try await shared.post(job, as: .alice)
      #expect(answer.status == 403 && answer.body.contains("memberReadRoots"), "\(path) \(answer)")
    }
    for action in ["move=" + directory.path("bob"), "move=" + directory.path("alice/to-bob")] {
      var job = upload
      job["onSuccess"] = action
      #expect(try await shared.post(job, as: .alice).status == 403, "\(action)")
    }
  }

  @Test("a file that only the service may read is not uploaded for a member, even by a link made after the add")
  func sources() async throws {
    let shared = try await SharedDaemon(config: Self.open)
    try Self.prepare(shared)
    let directory = shared.daemon.directory
    let server = try LoopbackServer { _ in .response(200) }
    try directory.directory("alice/in")
    try directory.file("outside/a.txt", text: "secret")
    for (number, (target, name)) in [("state", "transferd.db"), ("home", ".netrc")].enumerated() {
      let direct: [String: Any] = [
        "kind": "upload", "source": directory.path(target + "/" + name), "destination": server.url("/a"),
      ]
      #expect(try await shared.post(direct, as: .alice).status == 403)
      let source = try shared.file("in/" + name, "alice's own", of: .alice)
      let answer = try await shared.post(
        ["kind": "upload", "source": source, "destination": server.url("/\(number)"), "paused": true],
        as: .alice)
      #expect(answer.status == 201, "\(answer)")
      let id = "\(answer.json["id"] ?? "")"
      rename(directory.path("alice/in"), directory.path("alice/before"))
      symlink("../" + target, directory.path("alice/in"))
      #expect(try await shared.ctl("resume", id, as: .alice).status == 0)
      #expect(try await shared.ctl("wait", id, as: .alice).status == 1)
      let job = try await shared.daemon.job(id)
      #expect(job.state == "failed" && job.error?.code == "permission", "\(job)")
      unlink(directory.path("alice/in"))
      rename(directory.path("alice/before"), directory.path("alice/in"))
    }
    #expect(server.requests.isEmpty)
  }

  @Test("a file is moved after its upload only into a directory in which the job's owner may write at that time")
  func actions() async throws {
    let shared = try await SharedDaemon(config: Self.open)
    try Self.prepare(shared)
    let untouched = Untouched(shared)
    let directory = shared.daemon.directory
    let server = try LoopbackServer { _ in
      rename(directory.path("alice/sent"), directory.path("alice/before"))
      symlink("../home", directory.path("alice/sent"))
      return .response(200)
    }
    chmod(try directory.directory("alice/sent"), 0o777)
    let source = try shared.file("a.txt", "text", of: .alice)
    let answer = try await shared.post(
      [
        "kind": "upload", "source": source, "destination": server.url("/a"),
        "onSuccess": "move=" + directory.path("alice/sent"),
      ], as: .alice)
    #expect(answer.status == 201, "\(answer)")
    let id = "\(answer.json["id"] ?? "")"
    try await shared.daemon.waitForHistory("cannot use", of: id)
    #expect(FileManager.default.fileExists(atPath: source))
    try untouched.check()
  }

  @Test("spooled input needs no roots: the daemon finds it by its token")
  func spool() async throws {
    let shared = try await SharedDaemon(config: "transferd:\n  logLevel: notice\n")
    let server = try LoopbackServer { _ in .response(200) }
    let result = try await shared.ctl(
      "upload", "-", "--name", "a", "--to", server.url("/a"), "--wait", input: Data("text".utf8), as: .alice)
    #expect(result.status == 0, "\(result.stderr)")
    // Requests without a body query the server's capabilities.
    #expect(server.requests.filter { $0.bodyLength > 0 }.map(\.bodySHA256) == [sha256(of: Data("text".utf8))])
  }
}
