import Foundation
import Synchronization
import TestSupport
import Testing

/// The bytes that a server gets, and the meaning of its responses.
@Suite("uploads", .timeLimit(.minutes(5))) struct UploadTests {
  @Test(
    "files of every size are uploaded exactly",
    arguments: [0, 1, 5 << 20 - 1, 5 << 20, 5 << 20 + 1, 16 << 20 - 1, 16 << 20 + 1] as [Int64])
  func sizes(_ size: Int64) async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let payload = Payload(size: size, seed: UInt64(size) + 3)
    let path = try daemon.source("a b.bin", payload)
    let result = try await daemon.ctl("upload", path, "--to", nginx.url("/in/"), "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try sha256(ofFile: nginx.root + "/in/a b.bin") == payload.sha256)
    let job = try await daemon.job("1")
    #expect(job.kind == "upload" && job.bytesDone == size && job.bytesTotal == size)
    #expect(job.source == path && job.destination == nginx.url("/in/a%20b.bin"))
  }

  @Test("a sparse file of 1 GiB is uploaded", .timeLimit(.minutes(10)))
  func sparse() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let path = try daemon.source("big", Payload(size: 1 << 20))
    #expect(truncate(path, 1 << 30) == 0)
    #expect(
      try await daemon.ctl("upload", path, "--to", nginx.url("/big"), "--wait", timeout: .seconds(500)).status == 0)
    try await expectSame(nginx.root + "/big", path)
  }

  @Test("a permanent status fails the job after one request", arguments: [400, 401, 403, 404, 405, 409, 413])
  func permanent(_ status: Int) async throws {
    let server = try LoopbackServer { $0.method == "PUT" ? .response(status) : .response(404) }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    let result = try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait")
    #expect(result.status == 1)
    let job = try await daemon.job("1")
    #expect(job.state == "failed" && job.error?.code == "http-\(status)" && job.error?.httpStatus == status)
    #expect(server.requests.count { $0.method == "PUT" } == 1)
  }

  @Test("a transient status is retried from the first byte", arguments: [408, 423, 425, 429, 500, 503, 507])
  func transient(_ status: Int) async throws {
    let count = Atomic(0)
    let server = try LoopbackServer { _ in
      count.add(1, ordering: .relaxed).newValue == 1 ? .response(status) : .response(201)
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 300_000)
    let path = try daemon.source("a", payload)
    #expect(try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait").status == 0)
    #expect(server.requests.map(\.bodySHA256) == [payload.sha256, payload.sha256])
    #expect(try await daemon.job("1").attempt == 2)
  }

  @Test("a lost connection is retried")
  func broken() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      count.add(1, ordering: .relaxed).newValue == 1
        ? [.readBody(upTo: 1 << 20), .reset]
        : [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 4 << 20)
    let path = try daemon.source("a", payload)
    #expect(try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait").status == 0)
    #expect(server.requests.last?.bodySHA256 == payload.sha256)
  }

  @Test("a POST whose response was lost is not repeated automatically")
  func unknown() async throws {
    let server = try LoopbackServer(bodies: .byScript) { _ in [.readBody(), .close] }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 5000))
    let result = try await daemon.ctl(
      "upload", path, "--to", server.url("/a"), "--method", "POST", "--protocol", "plain", "--wait")
    #expect(result.status == 1)
    #expect(try await daemon.job("1").error?.code == "outcome-unknown")
    #expect(server.requests.count == 1)
  }

  @Test("a file that changes during its upload is sent again or fails the job", arguments: [false, true])
  func changed(fails: Bool) async throws {
    let (reached, proceed) = (Gate(), Gate())
    let count = Atomic(0)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      let first: [Script.Step] =
        count.add(1, ordering: .relaxed).newValue == 1
        ? [.readBody(upTo: 1 << 16), .signal(reached), .waitFor(proceed)] : []
      return Script(first + [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive])
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 8 << 20, seed: 1))
    let new = Payload(size: 8 << 20, seed: 2)
    let id = try await daemon.upload(
      path, "--to", server.url("/a"), "--protocol", "plain", "--on-change", fails ? "fail" : "restart")
    try await reached.wait()
    try new.write(to: path + ".new")
    #expect(rename(path + ".new", path) == 0)
    proceed.open()
    let job = try await daemon.finished(id)
    if fails {
      #expect(job.state == "failed" && job.error?.code == "source-changed")
    } else {
      #expect(job.state == "completed")
      #expect(server.requests.last?.bodySHA256 == new.sha256)
    }
  }

  @Test("a missing file fails the job without a retry")
  func missing() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    let id = try await daemon.upload(path, "--to", server.url("/a"), "--protocol", "plain", "--paused")
    try FileManager.default.removeItem(atPath: path)
    #expect(try await daemon.ctl("resume", id).status == 0)
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" && job.error?.code == "source-missing" && job.error?.transient == false)
    #expect(server.requests.isEmpty)
  }

  @Test("uploads to one URL run one after the other, and the user gets a notice")
  func sameURL() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    var ids: [String] = []
    for number in 1...4 {
      let path = try daemon.source("\(number)", Payload(size: 200_000, seed: UInt64(number)))
      let result = try await daemon.ctl("upload", path, "--to", nginx.url("/same"), "--paused")
      ids += result.lines
      #expect(result.stderr.contains("waits for job") == (number > 1))
    }
    #expect(try await daemon.ctl("resume", "--all").status == 0)
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    #expect(try sha256(ofFile: nginx.root + "/same") == Payload(size: 200_000, seed: 4).sha256)
    var last = 0
    for id in ids {
      let detail =
        try JSONSerialization.jsonObject(
          with: try await daemon.ctl("show", id, "--format", "json").output) as? [String: Any]
      let attempts = try #require(detail?["attempts"] as? [[String: Any]])
      #expect(attempts.count == 1)
      last += attempts.count
    }
    #expect(last == 4)
  }

  @Test("several forms are uploaded to one URL")
  func forms() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let daemon = try await Daemon()
    for number in 1...3 { _ = try daemon.source("\(number)", Payload(size: 1000, seed: UInt64(number))) }
    let ids = try await daemon.uploadAll(
      (1...3).map { daemon.directory.path("out/\($0)") } + [
        "--to", server.url("/form/"), "--protocol", "form", "--form", "photo=@", "--form", "title=Sun set", "--paused",
      ])
    #expect(try await daemon.ctl("resume", "--all").status == 0)
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    #expect(ids.count == 3 && server.requests.allSatisfy { $0.method == "POST" && $0.path == "/form/" })
    let body = String(decoding: server.requests[0].body, as: UTF8.self)
    #expect(body.contains("name=\"title\"") && body.contains("Sun set") && body.contains("name=\"photo\""))
  }

  @Test("a file that cannot be uploaded is reported by name, and no job is added for it")
  func refused() async throws {
    let daemon = try await Daemon()
    let good = try daemon.source("good", Payload(size: 10))
    try daemon.directory.directory("out/dir")
    #expect(mkfifo(daemon.directory.path("out/fifo"), 0o600) == 0)
    let to = ["--to", "http://127.0.0.1:9/", "--paused"]
    for (path, status) in [
      (daemon.directory.path("out/dir"), 64), (daemon.directory.path("out/fifo"), 64), ("/dev/null", 64),
      (daemon.directory.path("out/none"), 1), (daemon.statePath("transferd.db"), 5),
    ] as [(String, Int32)] {
      let result = try await daemon.run(["upload", path] + to)
      #expect(result.status == status, "\(path): \(result.stderr)")
      #expect(result.stdout.isEmpty && result.stderr.contains(path))
    }
    // The other files of a list are added.
    let list = "\(good)\0/nonexistent\0"
    let result = try await daemon.run(["upload", "-0", "-i", "-"] + to, input: Data(list.utf8))
    #expect(result.status == 1 && result.lines == ["1"] && result.stderr.contains("item 2:"))
  }

  @Test("a secret is read at each attempt and stored nowhere")
  func secrets() async throws {
    let server = try LoopbackServer { request in
      .response(request.headers["Authorization"] == "Bearer second" ? 201 : 503)
    }
    let daemon = try await Daemon("--log-level", "trace", environment: ["MY_TOKEN": "env-s3cret"])
    let token = try daemon.directory.file("token", text: "first\n")
    let path = try daemon.source("a", Payload(size: 10))
    let id = try await daemon.upload(
      path, "--to", server.url("/a"), "--protocol", "plain", "--secret-header", "Authorization: Bearer file:\(token)",
      "--secret-header", "X-Other: env:MY_TOKEN", "--header", "X-Api-Key: literal-s3cret")
    try await server.waitForRequests(1)
    try daemon.directory.file("token", text: "second\n")
    #expect(try await daemon.finished(id).state == "completed")
    #expect(server.requests[0].headers["Authorization"] == "Bearer first")
    #expect(server.requests[0].headers["X-Other"] == "env-s3cret")
    let shown =
      try await daemon.ctl("show", id).stdout + daemon.ctl("show", id, "--format", "json").stdout
      + daemon.ctl("export", "--all").stdout + daemon.ctl("events", id, "--format", "json").stdout
    #expect(!shown.contains("s3cret") && !shown.contains("Bearer second"))
    #expect(shown.contains("env:MY_TOKEN"))
    try await daemon.terminate()
    let files = try FileManager.default.contentsOfDirectory(atPath: daemon.stateDirectory).filter {
      $0.hasPrefix("transferd.db")
    }
    for name in files {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: daemon.statePath(name)))
      #expect(!bytes.contains("env-s3cret"))
    }
    #expect(!daemon.log.contains("s3cret"))
  }

  @Test("export and import move an upload unchanged to another daemon")
  func exported() async throws {
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 10))
    let sent = try daemon.directory.directory("sent")
    _ = try await daemon.upload(
      path, "--to", "http://127.0.0.1:9/in/", "--paused", "--on-success", "move=\(sent)", "--key", "{name}", "--batch",
      "b",
      "--credentials", "netrc", "--on-change", "fail")
    let lines = try await daemon.ctl("export", "--all").output
    let other = try await Daemon()
    #expect(try await other.ctl("import", "-", input: lines).status == 0)
    #expect(try await other.ctl("export", "--all").output == lines)
  }
}
