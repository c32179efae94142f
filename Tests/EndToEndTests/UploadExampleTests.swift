import Foundation
import Glibc
import TestSupport
import Testing

/// The command lines of the documentation, unchanged except for host names.
@Suite("examples of uploads", .timeLimit(.minutes(5))) struct UploadExampleTests {
  private func shell(_ command: String, _ daemon: Daemon, in directory: String) async throws -> ChildProcess.Result {
    let programs = (try BuiltPrograms.path("transferctl") as NSString).deletingLastPathComponent
    var launch = try daemon.ctlLaunch([])
    launch.program = "/bin/sh"
    launch.arguments = [
      "-c", "transferctl() { command transferctl \"$@\" --socket '\(daemon.socketPath)'; }; " + command,
    ]
    launch.environment["PATH"] = programs + ":/usr/bin:/bin"
    launch.directory = directory
    return try await launch.run(timeout: .seconds(90))
  }

  @Test("with PUT a trailing slash appends the file's name, and so does a URL without a path")
  func put() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    _ = try daemon.source("report.pdf", Payload(size: 1000))
    let out = daemon.directory.path("out")
    for to in [nginx.url("/inbox/"), nginx.url("")] {
      #expect(try await shell("transferctl upload report.pdf --to \(to) --wait", daemon, in: out).status == 0)
    }
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: nginx.root).sorted() == [
        "inbox", "inbox/report.pdf", "report.pdf",
      ])
  }

  @Test("find, a batch and keys upload files and move them afterwards")
  func find() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    for name in ["a.csv", "b c.csv", "d\ne.csv"] { _ = try daemon.source("outbox/" + name, Payload(size: 1000)) }
    let out = daemon.directory.path("out")
    try daemon.directory.directory("out/sent")
    let line = """
      find outbox -name '*.csv' -print0 | transferctl upload -0 -i - --to \(nginx.url("/in/{name}")) \
      --batch nightly-2026-11-21 --key '{path}:{mtime}' --on-success move=sent --wait
      """
    for _ in 0..<2 {
      let result = try await shell(line, daemon, in: out)
      #expect(result.status == 0, "\(result.stderr)")
    }
    #expect(try daemon.directory.names(in: "out/sent") == ["a.csv", "b c.csv", "d\ne.csv"])
    try await nginx.stop()
    #expect(nginx.targets("PUT").count == 3)
  }

  @Test("many files are uploaded below an S3 prefix with a profile")
  func profile() async throws {
    let peer = try await PythonPeer.nanio()
    let daemon = try await Daemon()
    try daemon.directory.directory("home/.aws")
    try daemon.directory.file(
      "home/.aws/credentials",
      text: "[backup]\naws_access_key_id = \(S3Peer.accessKey)\naws_secret_access_key = \(S3Peer.secretKey)\n")
    try daemon.directory.file("home/.aws/config", text: "[profile backup]\nendpoint_url = \(peer.url(""))\n")
    let payloads = [Payload(size: 17 << 20, seed: 1), Payload(size: 100, seed: 2)]
    for (number, payload) in payloads.enumerated() { _ = try daemon.source("\(number).tar", payload) }
    let result = try await shell(
      "transferctl upload *.tar --to s3://bucket/prefix/ --profile backup --wait", daemon,
      in: daemon.directory.path("out"))
    #expect(result.status == 0, "\(result.stderr)")
    for (number, payload) in payloads.enumerated() {
      #expect(try sha256(ofFile: peer.directory.path("data/bucket/prefix/\(number).tar")) == payload.sha256)
    }
  }

  @Test("a form is uploaded with the file and a title")
  func form() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let daemon = try await Daemon()
    _ = try daemon.source("photo.jpg", Payload(size: 1000))
    let line =
      "transferctl upload photo.jpg --to \(server.url("/form")) --protocol form --form file=@ --form title=Sunset --wait"
    #expect(try await shell(line, daemon, in: daemon.directory.path("out")).status == 0)
    let body = String(decoding: server.requests[0].body, as: UTF8.self)
    #expect(body.contains("name=\"title\"\r\n\r\nSunset\r\n"))
    #expect(body.contains("name=\"file\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"))
  }

  @Test("a dump is uploaded from standard input to an SSH server")
  func dump() async throws {
    let server = try await SSHServer()
    try FileManager.default.createDirectory(atPath: server.root + "/backups", withIntermediateDirectories: true)
    let daemon = try await Daemon(
      environment: ["TRANSFERD_SSH_KNOWN_HOSTS": server.knownHosts, "TRANSFERD_SSH_PRIVATE_KEY": server.privateKey])
    let to = server.url("sftp", server.root + "/backups/")
    let result = try await shell(
      "printf dumped | transferctl upload - --name dump.sql --to \(to) --wait", daemon, in: daemon.downloads)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try String(contentsOfFile: server.root + "/backups/dump.sql", encoding: .utf8) == "dumped")
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root + "/backups") == ["dump.sql"])
  }
}
