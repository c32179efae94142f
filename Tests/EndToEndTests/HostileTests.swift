import Foundation
import TestSupport
import Testing

@Suite("hostile servers", .timeLimit(.minutes(5))) struct HostileServerTests {
  @Test("no credentials follow a redirect to another port; a redirect within the origin keeps them")
  func leaks() async throws {
    let daemon = try await Daemon()
    let thief = try LoopbackServer(.file(size: 10))
    let server = try LoopbackServer(files: [
      "/away": FileBehaviour.file(size: 10).redirecting(to: thief.url("/x")),
      "/near": FileBehaviour.file(size: 10).redirecting(to: "/here"), "/here": .file(size: 10),
    ])
    let secrets = [
      "--header", "Cookie: s=1", "--header", "X-Api-Key: k", "--header", "X-Custom: c",
    ]
    for target in ["/away", "/near"] {
      let bearer = try await daemon.run(
        [
          "add", server.url(target), "-o", "a" + target.dropFirst(), "--header", "Authorization: Bearer t",
          "--wait",
        ] + secrets)
      let basic = try await daemon.run(
        ["add", "http://user:pw@\(server.authority)\(target)", "-o", "b" + target.dropFirst(), "--wait"]
          + secrets)
      #expect(bearer.status == 0 && basic.status == 0, "\(bearer.stderr) \(basic.stderr)")
    }
    #expect(thief.requests.count == 2)
    for request in thief.requests {
      for name in ["Authorization", "Cookie", "X-Api-Key", "X-Custom"] {
        #expect(request.headers[name] == nil, "\(name)")
      }
    }
    let near = server.requests.filter { $0.path == "/here" }
    #expect(near.map { $0.headers["Authorization"] } == ["Bearer t", "Basic dXNlcjpwdw=="])
    #expect(near.allSatisfy { $0.headers["X-Api-Key"] == "k" })
  }

  @Test(
    "redirects to other schemes and endless redirects are refused",
    arguments: [
      "file:///etc/passwd", "ftp://127.0.0.1/x", "scp://127.0.0.1/x", "gopher://127.0.0.1/",
    ])
  func redirects(_ location: String) async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10).redirecting(to: location))
    let job = try await daemon.finished(daemon.add(server.url("/x")))
    #expect(job.state == "failed" && job.error?.code == "unsupported-protocol" && job.attempt == 1)
    let endless = try LoopbackServer(.file(size: 10).redirectingForEver())
    let other = try await daemon.finished(daemon.add(endless.url("/hop/1"), "--retries", "0"))
    #expect(other.error?.code == "too-many-redirects" && endless.requests.count < 100)
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
  }

  @Test("a name in Content-Disposition becomes one safe name in the directory")
  func contentDisposition() async throws {
    let daemon = try await Daemon()
    let values = [
      "filename=\"../../x\"", "filename=\"/etc/x\"", "filename=\"..%2fx\"", "filename=\"%2e%2e/x\"",
      "filename=\"a\\\\..\\\\b\"",
      "filename*=UTF-8''%2Fetc%2Fx", "filename*=UTF-8''..%2F..%2Fx", "filename=\"\"", "filename=\".\"",
      "filename=\"..\"",
      "filename=\"-rf\"", "filename=\".bashrc\"", "filename=\"\(String(repeating: "é", count: 300))\"",
      "filename*=UTF-8''a%00b",
      "filename*=UTF-8''a%0Ab", "filename=\"x. . \"",
    ]
    let server = try LoopbackServer { request in
      let number = Int(request.path.dropFirst(5)) ?? 0
      return .response(200, headers: ["Content-Disposition": "attachment; " + values[number]], text: "hi")
    }
    for number in values.indices {
      let directory = "d\(number)"
      try daemon.directory.directory("downloads/" + directory)
      let id = try await daemon.add(server.url("/url-\(number)"), "-J", "-d", directory)
      #expect(try await daemon.finished(id).state == "completed", "\(values[number])")
      let names = try daemon.directory.names(in: "downloads/" + directory)
      #expect(names.count == 1, "\(values[number]): \(names)")
      let name = names.first ?? ""
      #expect(
        !name.hasPrefix(".") && !name.hasPrefix("-") && name.utf8.count <= 255, "\(values[number]): \(name)")
      #expect(
        name.unicodeScalars.allSatisfy { $0.value >= 0x20 } && !name.contains("\\"),
        "\(values[number]): \(name)")
    }
    #expect(try daemon.directory.names(in: "downloads").count == values.count)
  }

  @Test("a symbolic link at the destination is not followed, even if it appears during the download")
  func links() async throws {
    let daemon = try await Daemon()
    let victim = try daemon.directory.file("victim", text: "mine")
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/a": .file(size: 10), "/b": .file(size: 1000).holding(after: 500, reached: reached, until: proceed),
    ])
    let link = daemon.downloads + "/a"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
    #expect(try await daemon.ctl("add", server.url("/a")).status == 73)
    #expect(try await daemon.ctl("add", server.url("/a"), "--replace", "--wait").status == 0)
    #expect(
      (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil,
      "the link itself was replaced")
    let id = try await daemon.add(server.url("/b"))
    try await reached.wait()
    try FileManager.default.createSymbolicLink(atPath: daemon.downloads + "/b", withDestinationPath: victim)
    proceed.open()
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" && job.error?.code == "destination-exists")
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
  }

  @Test("endless headers and error pages end the attempt and use bounded memory")
  func floods() async throws {
    let daemon = try await Daemon()
    let file = FileBehaviour.file(size: 10)
    let server = try LoopbackServer(files: [
      "/headers": file.endlessHeaders(), "/huge": file.hugeHeader(), "/page": file.endlessError(503),
      "/gone": file.endlessError(404), "/cookies": file.cookies(100_000),
    ])
    _ = try await daemon.finished(daemon.add(server.url("/warm")))
    let before = daemon.residentBytes
    var codes: [String] = []
    for name in ["headers", "huge", "page", "gone", "cookies"] {
      let job = try await daemon.finished(daemon.add(server.url("/" + name), "--retries", "0"))
      #expect(job.state == "failed", "\(name)")
      codes.append(job.error?.code ?? "")
    }
    #expect(codes == ["protocol", "protocol", "http-503", "http-404", "protocol"])
    #expect(daemon.residentBytes - before < 24 << 20, "grew by \((daemon.residentBytes - before) >> 20) MiB")
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
  }
}

@Suite("secrets and other users", .timeLimit(.minutes(5))) struct PrivacyTests {
  @Test("no secret of a job is shown or logged anywhere")
  func secrets() async throws {
    let daemon = try await Daemon("--log-level", "trace")
    let server = try LoopbackServer(.file(size: 10).failing(403))
    let shown = ["pw-hunter2", "tok-sesame", "hdr-letmein"]
    let added = try await daemon.ctl(
      "add", "http://user:pw-hunter2@\(server.authority)/x?token=tok-sesame&a=1", "--header",
      "X-Auth-Token: hdr-letmein", "--wait")
    #expect(added.status == 1)
    #expect(
      server.requests.first?.query == "token=tok-sesame&a=1"
        && server.requests.first?.headers["Authorization"] != nil)
    let refused = try await daemon.ctl("add", "http://user:pw-hunter2@h:99999/x?token=tok-sesame")
    var texts = [added.stderr, refused.stderr]
    for arguments in [
      ["status", "--format", "wide"], ["status", "--format", "json"], ["show", "1"],
      ["show", "1", "--format", "json"],
      ["events"], ["events", "--format", "json"], ["export"],
    ] { texts.append(try await daemon.run(arguments).stdout) }
    let export = try await daemon.ctl("export")
    #expect(export.stderr.contains("left the secrets out of 1 job: header X-Auth-Token, user name and password"))
    #expect(export.stdout.contains(#""omitted":["#))
    texts += [export.stdout, export.stderr, try await daemon.curl("/v1/jobs/1").body]
    texts.append(try await daemon.terminate().log)
    for text in texts {
      for secret in shown { #expect(!text.contains(secret), "\(secret) in \(text.prefix(400))") }
    }
  }

  @Test("only the owner can use the state directory and the socket")
  func modes() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
    #expect(mode(daemon.stateDirectory) == 0o700)
    #expect(mode(daemon.socketPath) == 0o600)
    for name in try FileManager.default.contentsOfDirectory(atPath: daemon.stateDirectory) {
      #expect(mode(daemon.statePath(name)) == (name == "relay" ? 0o700 : 0o600), "\(name)")
    }
  }

  @Test(
    "another user can neither connect nor read, even with permissive file modes",
    .enabled(if: geteuid() == 0))
  func otherUser() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    // The programs may be in a directory that others cannot enter; the fixture's directory is private.
    let program = daemon.directory.path("transferctl")
    try FileManager.default.copyItem(atPath: try BuiltPrograms.path("transferctl"), toPath: program)
    chmod(program, 0o755)
    chmod(daemon.directory.path, 0o755)
    func asNobody(_ arguments: [String]) async throws -> ChildProcess.Result {
      let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"]
      return try await Launch(try BuiltPrograms.system("setpriv"), nobody + arguments, directory: "/").run()
    }
    let closed = try await asNobody([program, "status", "--socket", daemon.socketPath])
    #expect(closed.status == 5 && closed.stdout == "", "\(closed.stderr)")
    #expect(try await asNobody(["/bin/ls", daemon.stateDirectory]).status != 0)
    // The modes are opened by mistake: the daemon still checks the peer's uid.
    chmod(daemon.directory.path("run"), 0o755)
    chmod(daemon.socketPath, 0o666)
    for arguments in [["status"], ["add", "http://h/y"], ["cancel", "--all"], ["events"]] {
      let result = try await asNobody([program] + arguments + ["--socket", daemon.socketPath])
      #expect(result.status == 5 && result.stdout == "", "\(arguments): \(result.stderr)")
    }
    #expect(try await daemon.job("1").state == "paused")
  }
}
