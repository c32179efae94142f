import Foundation
import Glibc
import TestSupport
import Testing

/// --if-changed against nginx and file servers: what is fetched, what is replaced, and what survives.
@Suite("only what changed", .timeLimit(.minutes(5))) struct IfChangedTests {
  private static let first = Payload(size: 5_000)
  private static let second = Payload(size: 6_000, seed: 2)

  /// A daemon that mirrors nginx.
  private struct Scene {
    let daemon: Daemon
    let nginx: Nginx

    init(daemon: Daemon? = nil) async throws {
      nginx = try await Nginx()
      self.daemon = try await { if let daemon { daemon } else { try await Daemon() } }()
      try serve(first, "a")
    }

    /// Puts a file on the server, with a time that is long ago and different for each content.
    func serve(_ payload: Payload, _ name: String) throws {
      try payload.write(to: nginx.root + "/" + name)
      var times = Array(repeating: timespec(tv_sec: 1_000_000_000 + Int(payload.size), tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, nginx.root + "/" + name, &times, 0)
    }

    @discardableResult
    func add(_ options: String...) async throws -> Daemon.StatusJob {
      let result = try await daemon.run(
        ["add", nginx.url("/a"), "-d", daemon.downloads, "--if-changed", "--wait"] + options)
      return try await daemon.job(try #require(result.lines.first, "\(result.stderr)"))
    }

    /// The statuses of the requests so far.
    func statuses(_ count: Int) async throws -> [String] {
      try await eventually("\(count) lines in the log") { nginx.accessLog.count >= count }
      return nginx.accessLog.map { String($0.split(separator: " ")[2]) }
    }

    func digest(_ name: String = "a") throws -> String { try sha256(ofFile: daemon.downloaded(name)) }
  }

  @Test("an unchanged file is a 304 and no byte; a changed one is fetched and replaced")
  func changes() async throws {
    let scene = try await Scene()
    #expect(try await scene.add().result == "transferred")
    let same = try await scene.add()
    #expect(same.result == "unchanged" && same.bytesDone == 0 && same.state == "completed")
    try scene.serve(Self.second, "a")
    #expect(try await scene.add().result == "transferred")
    #expect(try scene.digest() == Self.second.sha256)
    #expect(try await scene.add().result == "unchanged")
    #expect(try await scene.statuses(4) == ["200", "304", "200", "304"])
    #expect(try scene.daemon.fileNames == ["a"])
    let shown = try await scene.daemon.curl("/v1/jobs/2").json
    #expect((shown["options"] as? [String: Any])?["ifChanged"] as? Bool == true)
    #expect((shown["attempts"] as? [[String: Any]])?.first?["httpStatus"] as? Int == 304)
  }

  @Test("what is known survives remove, a restart and a kill")
  func survives() async throws {
    let scene = try await Scene()
    try await scene.add()
    try await scene.daemon.ctl("remove", "--all")
    try await scene.daemon.restart()
    #expect(try await scene.add().result == "unchanged")
    try await scene.daemon.kill9()
    try await scene.daemon.start()
    #expect(try await scene.add().result == "unchanged")
  }

  @Test("a file that is missing or was touched is asked for without a condition, and a changed one is not replaced")
  func local() async throws {
    let scene = try await Scene()
    try await scene.add()
    unlink(scene.daemon.downloaded("a"))
    #expect(try await scene.add().result == "transferred")
    // The same bytes with another time: the server's file is not known to be the same.
    utimensat(AT_FDCWD, scene.daemon.downloaded("a"), nil, 0)
    let touched = try await scene.add()
    #expect(touched.state == "failed" && touched.error?.code == "destination-exists" && touched.result == nil)
    #expect(touched.error?.transient == false)
    #expect(try await scene.add("--replace").result == "transferred")
    #expect(try await scene.add().result == "unchanged")
    #expect(try await scene.statuses(5) == ["200", "200", "200", "200", "304"])
    #expect(try scene.daemon.fileNames == ["a"])
  }

  @Test("a file from elsewhere with the server's time and length is unchanged; any other fails")
  func adopted() async throws {
    let scene = try await Scene()
    try Self.second.write(to: scene.daemon.downloaded("a"))
    let differs = try await scene.add()
    #expect(differs.error?.code == "destination-exists")
    #expect(try scene.digest() == Self.second.sha256)
    try FileManager.default.removeItem(atPath: scene.daemon.downloaded("a"))
    let curl = try await Launch(
      BuiltPrograms.system("curl"), ["-sS", "-R", "-o", scene.daemon.downloaded("a"), scene.nginx.url("/a")]
    ).run()
    #expect(curl.status == 0)
    #expect(try await scene.add().result == "unchanged")
    // From now on there is a record.
    #expect(try await scene.add().result == "unchanged")
    #expect(try await scene.statuses(4).last == "304")
  }

  @Test("a list, lines of JSON and the API: 3 of 300 changed, and one line says so")
  func lists() async throws {
    let scene = try await Scene()
    for n in 0..<300 { try scene.serve(Self.first, "f\(n)") }
    let list = (0..<300).map { scene.nginx.url("/f\($0)") + "\n" }.joined()
    func run(_ input: String, _ batch: String, _ options: [String] = ["--if-changed"]) async throws -> String {
      let result = try await scene.daemon.run(
        ["add", "-i", "-", "-d", scene.daemon.downloads, "--batch", batch, "--wait"] + options, input: Data(input.utf8))
      #expect(result.status == 0, "\(result.stderr)")
      return result.stderr.split(separator: "\n").last.map(String.init) ?? ""
    }
    #expect(try await run(list, "one") == "300 jobs: 300 transferred, 0 unchanged, 0 skipped, 0 failed")
    for n in [7, 77, 277] { try scene.serve(Self.second, "f\(n)") }
    #expect(try await run(list, "two") == "300 jobs: 3 transferred, 297 unchanged, 0 skipped, 0 failed")
    let lines = (0..<300).map { #"{"url":"\#(scene.nginx.url("/f\($0)"))","ifChanged":true}"# + "\n" }.joined()
    #expect(try await run(lines, "three", []) == "300 jobs: 0 transferred, 300 unchanged, 0 skipped, 0 failed")
    let batch = try await scene.daemon.curl("/v1/batches/two").json["results"] as? [String: Int]
    #expect(batch == ["transferred": 3, "unchanged": 297, "skipped": 0])
    let waited = try await scene.daemon.ctl("wait", "--batch", "two")
    #expect(waited.stderr.hasSuffix("300 jobs: 3 transferred, 297 unchanged, 0 skipped, 0 failed\n"))
    let body = #"{"source":"\#(scene.nginx.url("/f1"))","directory":"\#(scene.daemon.downloads)","ifChanged":true}"#
    let id = try await scene.daemon.curl("/v1/jobs", "-d", body).json["id"] as? Int ?? 0
    #expect(try await scene.daemon.finished("\(id)").result == "unchanged")
    #expect(try scene.digest("f77") == Self.second.sha256)
    // An unchanged file costs one request and no byte of a body.
    try await scene.nginx.stop()
    #expect(scene.nginx.accessLog.filter { $0.split(separator: " ")[2] == "304" }.count == 598)
  }

  @Test("a large file that changed is resumed after a kill, and its old version stays until then")
  func killedTransfer() async throws {
    let large = Payload(size: 12 << 20, seed: 4)
    let file = FileBehaviour.file(Self.first).becoming(large, on: .after(1)).stalling(after: 6 << 20, on: .at(1))
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    _ = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    let id = try await daemon.add(server.url("/a"), "--if-changed")
    try await daemon.waitForParts(holding: 5 << 20)
    try await daemon.kill9()
    #expect(try sha256(ofFile: daemon.downloaded("a")) == Self.first.sha256)
    try await daemon.start()
    let job = try await daemon.finished(id)
    #expect(job.result == "transferred" && job.state == "completed", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == large.sha256)
    let last = try #require(server.requests.last)
    #expect(last.headers["Range"] != nil && last.headers["If-None-Match"] == nil)
    let again = try await daemon.ctl("add", server.url("/a"), "--if-changed", "--wait")
    #expect(again.stderr.hasSuffix("1 jobs: 0 transferred, 1 unchanged, 0 skipped, 0 failed\n"), "\(again.stderr)")
  }

  @Test("SFTP and FTP compare size and time; bytes are fetched only if one differs", arguments: ["sftp", "ftp"])
  func fileServers(_ scheme: String) async throws {
    let ssh = scheme == "sftp" ? try await SSHServer() : nil
    let ftp = scheme == "ftp" ? try await FTPServer() : nil
    let root = try #require(ssh?.root ?? ftp?.root)
    let url = try #require(ssh?.url("sftp", root + "/a") ?? ftp?.url("/a"))
    func serve(_ payload: Payload, _ time: Int) throws {
      try payload.write(to: root + "/a")
      var times = Array(repeating: timespec(tv_sec: time, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, root + "/a", &times, 0)
    }
    try serve(Self.first, 1_000_000_000)
    var environment: [String: String] = [:]
    if let ssh {
      environment = ["TRANSFERD_SSH_KNOWN_HOSTS": ssh.knownHosts, "TRANSFERD_SSH_PRIVATE_KEY": ssh.privateKey]
    }
    let daemon = try await Daemon(environment: environment)
    func run(_ options: String...) async throws -> String? {
      let result = try await daemon.run(["add", url, "-d", daemon.downloads, "--if-changed", "--wait"] + options)
      let job = try await daemon.job(try #require(result.lines.first, "\(result.stderr)"))
      return job.result ?? job.error?.code
    }
    #expect(try await run() == "transferred")
    #expect(try await run() == "unchanged")
    try serve(Self.first, 1_000_000_001)
    #expect(try await run() == "transferred")
    try serve(Self.second, 1_000_000_001)
    #expect(try await run() == "transferred")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == Self.second.sha256)
    utimensat(AT_FDCWD, daemon.downloaded("a"), nil, 0)
    #expect(try await run() == "destination-exists")
    #expect(try await run("--replace", "--remote-time") == "transferred")
    #expect(try await run() == "unchanged")
    withExtendedLifetime((ssh, ftp)) {}
  }
}

/// Members of the socket's group do not see each other's records.
@Suite(
  "only what changed, for members", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct IfChangedMemberTests {
  @Test("another member's job does not use the record of a file: it compares")
  func owners() async throws {
    let server = try LoopbackServer(.file(Payload(size: 5_000)))
    let shared = try await SharedDaemon()
    let directory = shared.directory(of: .alice)
    func run(_ person: SharedDaemon.Person) async throws -> ChildProcess.Result {
      try await shared.ctl("add", server.url("/a"), "-d", directory, "--if-changed", "--wait", as: person)
    }
    #expect(try await run(.alice).stderr.contains("1 transferred"))
    let other = try await run(.bob)
    #expect(other.status == 1 && other.stderr.contains("destination-exists"), "\(other.stderr)")
    #expect(try await run(.alice).stderr.contains("1 unchanged"))
    #expect(server.requests.map { $0.headers["If-None-Match"] == nil } == [true, true, false])
  }
}
