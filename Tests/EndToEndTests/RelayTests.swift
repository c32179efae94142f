import Foundation
import Glibc
import TestSupport
import Testing

/// Relays: from a URL to every kind of target, resumable on both sides, without a copy that stays.
@Suite("relays", .timeLimit(.minutes(5))) struct RelayTests {
  static let kinds: [UploadPeer.Kind] = [.plain, .nginxDAV, .wsgidav, .s3, .tus, .sftp]

  @Test("a file goes from its server to the target under its name, and no copy is left", arguments: kinds)
  func transfers(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let payload = Payload(size: 9 << 20 + 3, seed: 5)
    let server = try LoopbackServer(.file(payload))
    let id = try await peer.relay(server.url("/x/a%20b.img?v=1"), "--checksum", "sha-256=\(payload.sha256)")
    let job = try await peer.daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(job.kind == "relay" && job.phase == "upload" && job.result == "transferred")
    #expect(job.source == server.url("/x/a%20b.img?v=1") && job.destination.hasSuffix("/a%20b.img"))
    #expect(job.bytesDone == payload.size && job.bytesTotal == payload.size)
    #expect(try peer.holds("a b.img", payload))
    #expect(try peer.names().count == 1)
    #expect(server.requests.count == 1)
    try await peer.daemon.waitForNoCopies()
    #expect(try peer.daemon.fileNames.isEmpty)
  }

  @Test("kills in both phases lose what the sides lose by themselves, and the source is fetched once", arguments: kinds)
  func kills(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let daemon = peer.daemon
    let payload = Payload(size: 24 << 20 + 1, seed: 6)
    let server = try LoopbackServer(.file(payload).holding(after: 4 << 20, until: Gate()))
    let id = try await peer.relay(server.url("/big.img"))
    try await daemon.waitForBytes(4 << 20, of: id)
    try await daemon.kill9()
    #expect(daemon.copies.count == 1)
    try await daemon.start()
    _ = try await daemon.ctl("set", id, "--limit-rate", "6M")
    try await daemon.waitForPhase("upload", of: id)
    let fetched = server.requests.count
    #expect(server.requests[1].start > 2 << 20)
    for _ in 0..<2 {
      try await daemon.reached("running", by: id)
      #expect(try await daemon.job(id).phase == "upload")
      try await daemon.kill9()
      #expect(daemon.copies.count == 1)
      try await daemon.start()
    }
    _ = try await daemon.ctl("set", id, "--limit-rate", "1G")
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(try peer.holds("big.img", payload))
    #expect(server.requests.count == fetched)
    try await daemon.waitForNoCopies()
  }

  @Test("an empty file, and a file of unknown length, are relayed", arguments: [0, 1, 3 << 20] as [Int64])
  func lengths(_ size: Int64) async throws {
    let payload = Payload(size: size, seed: 7)
    let server = try LoopbackServer(.file(payload).chunked())
    let (target, daemon) = (try PutServer(), try await Daemon())
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/b"))
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.bytesTotal == size, "\(job.error?.message ?? "")")
    #expect(target.holds("/in/b", payload))
    try await daemon.waitForNoCopies()
  }

  @Test("header fields, cookies and credentials of the source do not reach the target, which has its own")
  func credentials() async throws {
    let payload = Payload(size: 1000, seed: 8)
    let server = try LoopbackServer(.file(payload))
    let (target, daemon) = (try PutServer(), try await Daemon())
    let cookies = try daemon.directory.file(
      "cookies", text: "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsourcecookie\n")
    let word = try daemon.directory.file("word", text: "target:targetpassword\n")
    let id = try await daemon.relay(
      server.url("/a").replacing("http://", with: "http://source:sourcepassword@"), to: target.url("/in/"), "--header",
      "X-Key: sourcekey", "--user-agent", "sourceagent", "--cookies", cookies, "--target-credentials", "file:\(word)",
      "--method", "PUT", "--protocol", "plain")
    #expect(try await daemon.finished(id).state == "completed")
    let (asked, put) = (try #require(server.requests.first), try #require(target.puts.last))
    #expect(asked.headers["X-Key"] == "sourcekey" && asked.headers["Cookie"] == "session=sourcecookie")
    #expect(asked.headers["User-Agent"] == "sourceagent")
    #expect(put.headers["X-Key"] == nil && put.headers["Cookie"] == nil)
    #expect(put.headers["User-Agent"] != "sourceagent")
    let basic = Data("target:targetpassword".utf8).base64EncodedString()
    #expect(put.headers["Authorization"] == "Basic \(basic)")
    let shown = try await daemon.ctl("show", id, "--format", "json").stdout + daemon.ctl("export", "--all").stdout
    #expect(!shown.contains("sourcepassword") && !shown.contains("targetpassword") && !shown.contains("sourcekey\""))
    #expect(!daemon.log.contains("password"))
  }

  @Test("pause, resume and a new URL keep the bytes of each phase; a URL of an upload cannot change")
  func verbs() async throws {
    let payload = Payload(size: 8 << 20, seed: 9)
    let server = try LoopbackServer(.file(payload).holding(after: 3 << 20, until: Gate()))
    let (reached, held) = (Gate(), Gate())
    let (target, daemon) = (try PutServer(reached: reached, until: held), try await Daemon())
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    try await daemon.waitForBytes(3 << 20, of: id)
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(try await daemon.job(id).state == "paused" && daemon.copies.count == 1)
    #expect(try await daemon.ctl("set", id, "--url", server.url("/other")).status == 0)
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await reached.wait()
    #expect(server.requests[1].start > 1 << 20 && server.requests[1].path == "/other")
    #expect(try await daemon.job(id).phase == "upload")
    #expect(try await daemon.ctl("set", id, "--url", server.url("/third")).status == 6)
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(daemon.copies.count == 1)
    held.open()
    #expect(try await daemon.ctl("resume", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(target.holds("/in/a", payload) && server.requests.count == 2)
  }

  @Test(
    "a cancelled or removed relay leaves no copy in either phase; a retry begins with the download", arguments: [1, 2])
  func cancelled(_ phase: Int) async throws {
    let payload = Payload(size: 6 << 20, seed: 10)
    let file = FileBehaviour.file(payload)
    let server = try LoopbackServer(phase == 1 ? file.holding(after: 2 << 20, until: Gate()) : file)
    let (reached, held) = (Gate(), Gate())
    let (target, daemon) = (try PutServer(reached: reached, until: held), try await Daemon())
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"), "--key", "k")
    if phase == 1 { try await daemon.waitForBytes(2 << 20, of: id) } else { try await reached.wait() }
    #expect(try await daemon.ctl("cancel", id).status == 0)
    #expect(try await daemon.job(id).phase == "download" && daemon.copies.isEmpty)
    held.open()
    let before = server.requests.count
    #expect(try await daemon.ctl("retry", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(server.requests.count == before + 1 && target.holds("/in/a", payload))
    #expect(try await daemon.relay(server.url("/a"), to: target.url("/in/"), "--key", "k") == id)
    // Paused with bytes, and removed.
    let other = try LoopbackServer(file.holding(after: 2 << 20, until: Gate()))
    let second = try await daemon.relay(other.url("/b"), to: target.url("/in/"))
    try await daemon.waitForBytes(2 << 20, of: second)
    #expect(try await daemon.ctl("pause", second).status == 0)
    #expect(try await daemon.ctl("remove", second).status == 0)
    try await daemon.waitForNoCopies()
  }

  @Test("an upload that the target refuses keeps the copy: a retry does not fetch the file again")
  func refused() async throws {
    let payload = Payload(size: 2 << 20, seed: 11)
    let server = try LoopbackServer(.file(payload))
    let isOpen = Watched(false)
    let target = try LoopbackServer { request in
      request.method == "PUT" ? .response(isOpen.value ? 201 : 403) : .response(405)
    }
    let daemon = try await Daemon()
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" && job.error?.code == "http-403" && job.phase == "upload")
    try await daemon.restart()
    #expect(daemon.copies.count == 1)
    isOpen.mutate { $0 = true }
    #expect(try await daemon.ctl("retry", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed" && server.requests.count == 1)
    try await daemon.waitForNoCopies()
  }

  @Test("a copy that somebody deleted fails the upload, and a retry fetches the file again")
  func lost() async throws {
    let payload = Payload(size: 2 << 20, seed: 12)
    let server = try LoopbackServer(.file(payload))
    let (reached, held) = (Gate(), Gate())
    let (target, daemon) = (try PutServer(reached: reached, until: held), try await Daemon())
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    try await reached.wait()
    #expect(try await daemon.ctl("pause", id).status == 0)
    for name in daemon.copies { try FileManager.default.removeItem(atPath: daemon.statePath("relay/\(name)")) }
    held.open()
    #expect(try await daemon.ctl("resume", id).status == 0)
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" && ["source-missing", "source-changed"].contains(job.error?.code))
    #expect(try await daemon.ctl("retry", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed" && server.requests.count == 2)
    #expect(target.holds("/in/a", payload))
  }

  @Test("lists are relayed to a collection in one batch, and --wait counts them")
  func lists() async throws {
    let server = try LoopbackServer(files: [
      "/a": .file(size: 1000, seed: 1), "/b": .file(size: 3 << 20, seed: 2), "/c": .file(size: 5, seed: 3),
    ])
    let (target, daemon) = (try PutServer(), try await Daemon())
    let lines = [
      server.url("/a"), server.url("/b"), #"{"url":"\#(server.url("/c"))","thenUpload":"\#(target.url("/out/own"))"}"#,
      server.url("/missing"),
    ]
    let result = try await daemon.run(
      ["add", "-i", "-", "--then-upload", target.url("/in/"), "--batch", "b", "--wait"],
      input: Data(lines.joined(separator: "\n").utf8))
    #expect(result.status == 1)
    #expect(result.stderr.contains("4 jobs: 3 transferred, 0 unchanged, 0 skipped, 1 failed"), "\(result.stderr)")
    #expect(
      target.holds("/in/a", Payload(size: 1000, seed: 1)) && target.holds("/in/b", Payload(size: 3 << 20, seed: 2)))
    #expect(target.holds("/out/own", Payload(size: 5, seed: 3)))
    let exported = try await daemon.ctl("export", "--all").stdout
    #expect(exported.contains(#""thenUpload":"\#(target.url("/out/own"))""#))
    // An import adds the unfinished ones of another daemon again.
    let line =
      #"{"request":{"kind":"relay","source":"\#(server.url("/a"))","thenUpload":"\#(target.url("/again"))"},"state":"queued"}"#
    #expect(try await daemon.run(["import", "-"], input: Data(line.utf8)).status == 0)
    try await eventually("the imported relay") { target.holds("/again", Payload(size: 1000, seed: 1)) }
  }

  @Test("a start deletes the copies of jobs that are gone, and keeps the others")
  func orphans() async throws {
    let server = try LoopbackServer(.file(size: 6 << 20).holding(after: 2 << 20, until: Gate()))
    let (target, daemon) = (try PutServer(), try await Daemon())
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    try await daemon.waitForBytes(2 << 20, of: id)
    let own = daemon.copies
    try await daemon.kill9()
    let orphan = daemon.statePath("relay/" + String(repeating: "a", count: 32))
    try FileManager.default.createDirectory(atPath: orphan, withIntermediateDirectories: false)
    try Data("x".utf8).write(to: URL(fileURLWithPath: orphan + "/x"))
    try await daemon.start()
    #expect(daemon.copies == own)
    #expect(try await daemon.finished(id).state == "completed")
  }

  @Test(
    "options that a relay cannot have, or that need one, are usage errors",
    arguments: [
      ["--then-upload", "https://t/", "-d", "."], ["--then-upload", "https://t/", "-o", "x"],
      ["--then-upload", "https://t/", "--replace"], ["--then-upload", "https://t/", "--if-changed"],
      ["--then-upload", "https://t/", "--recursive"], ["--then-upload", "https://t/", "--mode", "0600"],
      ["--then-upload", "https://t/", "--insecure"], ["--then-upload", "https://t/", "--cert", "c.pem"],
      ["--then-upload", "https://t/", "-J"], ["--then-upload", "https://t/", "--on-success", "move=/tmp"],
      ["--then-upload", "https://t/{name}"], ["--then-upload", "/srv/x"], ["--then-upload", ""],
      ["--then-upload", "gopher://t/"], ["--then-upload", "https://t/", "--form", "a=b", "--protocol", "tus"],
      ["--then-upload", "https://t/x", "https://h/second"], ["--protocol", "tus"], ["--method", "PUT"], ["--verify"],
      ["--if-absent"], ["--form", "f=@"], ["--target-credentials", "netrc"],
    ])
  func usage(_ arguments: [String]) async throws {
    let user = try FreshUser()
    let result = try await user.launch(["add", "https://h/a.iso"] + arguments).run()
    #expect(result.status == 64, "\(result.stderr)")
    #expect(result.stdout.isEmpty && user.daemonPID == nil)
  }

  @Test("--dry-run names source and target, and adds nothing")
  func dryRun() async throws {
    let user = try FreshUser()
    let result = try await user.ctl("add", "https://h/a%20b", "--then-upload", "s3://bucket/in/", "--dry-run")
    #expect(result.status == 0 && result.stdout == "https://h/a%20b\ts3://bucket/in/a%20b\n", "\(result.stderr)")
  }
}
