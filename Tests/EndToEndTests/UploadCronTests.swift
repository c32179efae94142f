import Foundation
import Glibc
import TestSupport
import Testing

/// Uploads from lists with batches and keys, as in a cron job.
@Suite("uploads from cron", .timeLimit(.minutes(5))) struct UploadCronTests {
  @Test("two simultaneous runs with the same keys upload and move each file once")
  func overlapping() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let user = try FreshUser()
    let count = 60
    let (out, sent) = (try user.directory.directory("out"), try user.directory.directory("sent"))
    for number in 0..<count { try user.directory.file("out/\(number).csv", text: "\(number)\n") }
    let list = Data((0..<count).map { "\(out)/\($0).csv\0" }.joined().utf8)
    var launch = try user.launch([
      "upload", "-0", "-i", "-", "--ignore-missing", "--to", nginx.url("/in/{name}"), "--batch", "nightly", "--key",
      "{path}:{mtime}", "--on-success", "move=\(sent)", "--wait",
    ])
    launch.input = list
    let line = launch
    async let one = line.run(timeout: .seconds(100))
    async let two = line.run(timeout: .seconds(100))
    for result in [try await one, try await two] { #expect(result.status == 0, "\(result.stderr)") }
    // And once more after the end.
    let third = try await launch.run()
    #expect(third.status == 0 && third.stdout.isEmpty)
    #expect(try user.directory.names(in: "out").isEmpty)
    #expect(try user.directory.names(in: "sent").count == count)
    let batch = try await user.ctl("batch", "show", "nightly")
    #expect(batch.stdout.contains("completed:") && batch.stdout.contains("\(count)"))
    try await nginx.stop()
    #expect(nginx.targets("PUT").sorted() == (0..<count).map { "/in/\($0).csv" }.sorted())
  }

  @Test(
    "two simultaneous runs with a daemon that is killed repeatedly upload each file before it is deleted",
    arguments: ["delete", "move"])
  func killed(_ action: String) async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let user = try FreshUser()
    let (count, kills) = (48, 5)
    let (out, sent) = (try user.directory.directory("out"), try user.directory.directory("sent"))
    let payloads = (0..<count).map { Payload(size: 64 << 10, seed: UInt64($0) + 1) }
    for (number, payload) in payloads.enumerated() { try payload.write(to: "\(out)/\(number).csv") }
    var launch = try user.launch([
      "upload", "-0", "-i", "-", "--ignore-missing", "--to", nginx.url("/in/{name}"), "--protocol", "plain", "--batch",
      "nightly", "--key", "{path}:{mtime}", "--on-success", action == "move" ? "move=\(sent)" : "delete",
      "--limit-rate", "128K", "--wait",
    ])
    launch.input = Data((0..<count).map { "\(out)/\($0).csv\0" }.joined().utf8)
    let line = launch
    let ended = Watched(0)
    let run: @Sendable () async throws -> ChildProcess.Result = {
      defer { ended.mutate { $0 += 1 } }
      return try await line.run(timeout: .seconds(150))
    }
    async let one = run()
    async let two = run()
    for _ in 0..<kills {
      // Kill only a daemon that responds: kills during the start are tested elsewhere.
      let socket = user.runtime + "/transferd/transferd.sock"
      let question = Launch(
        try BuiltPrograms.system("curl"), ["-qsS", "-m", "10", "--unix-socket", socket, "http://localhost/healthz"])
      try await eventually("a daemon") {
        if ended.value == 2 { return true }
        guard user.daemonPID != nil, isListening(onUnixSocket: socket) else { return false }
        return try await question.run().status == 0
      }
      try await Task.sleep(for: .milliseconds(Int.random(in: 500...1200)))
      if ended.value == 2 { break }
      if let pid = user.daemonPID { kill(pid, SIGKILL) }
      let left = Set(try user.directory.names(in: "out"))
      for number in 0..<count where !left.contains("\(number).csv") {
        #expect(try sha256(ofFile: nginx.root + "/in/\(number).csv") == payloads[number].sha256)
      }
    }
    for result in [try await one, try await two] { #expect(result.status == 0, "\(result.stderr)") }
    // The next command starts a daemon that finishes the remaining work.
    _ = try await user.ctl("status")
    try await eventually("the files to be gone") { try user.directory.names(in: "out").isEmpty }
    for (number, payload) in payloads.enumerated() {
      #expect(try sha256(ofFile: nginx.root + "/in/\(number).csv") == payload.sha256)
    }
    #expect(try user.directory.names(in: "sent").count == (action == "move" ? count : 0))
    try await nginx.stop()
    // A kill may cost only the requests that were running.
    #expect(nginx.targets("PUT").count <= count + kills * 16)
    #expect(Set(nginx.targets("PUT")).count == count)
  }

  @Test("a failed upload makes the run fail, and a later run uploads only that file")
  func truth() async throws {
    let isRepaired = Watched(false)
    let server = try LoopbackServer { request in
      request.path == "/b" && !isRepaired.value ? .response(403) : .response(201)
    }
    let daemon = try await Daemon()
    for name in ["a", "b", "c"] { _ = try daemon.source(name, Payload(size: 100)) }
    let arguments =
      ["a", "b", "c"].map { daemon.directory.path("out/" + $0) } + [
        "--to", server.url("/"), "--protocol", "plain", "--batch", "n", "--key", "{name}", "--retry-failed", "--wait",
      ]
    let first = try await daemon.run(["upload"] + arguments)
    #expect(first.status == 1 && first.lines.count == 3)
    #expect(try await daemon.ctl("wait", "--batch", "n").status == 1)
    #expect(try await daemon.ctl("batch", "show", "n").stdout.contains("failed: http-403"))
    isRepaired.mutate { $0 = true }
    let second = try await daemon.run(["upload"] + arguments)
    #expect(second.status == 0, "\(second.stderr)")
    #expect(second.lines == first.lines)
    #expect(server.requests.map(\.path).sorted() == ["/a", "/b", "/b", "/c"])
    #expect(try await daemon.ctl("wait", "--batch", "n").status == 0)
  }

  @Test("paths with spaces and newlines are uploaded with -0, and directories keep their structure")
  func names() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    for name in ["a b", "new\nline", "#hash", "sub/é?%"] { _ = try daemon.source(name, Payload(size: 10)) }
    let result = try await daemon.ctl(
      "upload", "--recursive", "--root", daemon.directory.path("out"), daemon.directory.path("out"), "--to",
      nginx.url("/in/"),
      "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: nginx.root + "/in").sorted()
    #expect(names == ["#hash", "a b", "new\nline", "sub", "sub/é?%"])
  }

  @Test("a manifest has the target of each file")
  func manifest() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    for name in ["a", "b"] { _ = try daemon.source(name, Payload(size: 10)) }
    let manifest = """
      {"source":"\(daemon.directory.path("out/a"))","destination":"\(nginx.url("/x/"))"}
      {"source":"\(daemon.directory.path("out/b"))","destination":"\(nginx.url("/y/{size}"))","priority":3}
      """
    let result = try await daemon.ctl("upload", "--manifest", "-", "--wait", input: Data(manifest.utf8))
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try FileManager.default.subpathsOfDirectory(atPath: nginx.root).sorted() == ["x", "x/a", "y", "y/10"])
  }

  @Test("without libcrypto only a template with {sha256} fails, with the reason")
  func withoutLibcrypto() async throws {
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    // The loader finds this file first, and it is no library.
    let library = try daemon.source("libcrypto.so.3", Payload(size: 0))
    func upload(to name: String) async throws -> ChildProcess.Result {
      var launch = try daemon.ctlLaunch(["upload", path, "--to", "http://127.0.0.1:9/\(name)", "--paused"])
      let others = launch.environment["LD_LIBRARY_PATH"].map { ":" + $0 } ?? ""
      launch.environment["LD_LIBRARY_PATH"] = (library as NSString).deletingLastPathComponent + others
      return try await launch.run()
    }
    let refused = try await upload(to: "{sha256}")
    #expect(refused.status == 1 && refused.stderr.contains("cannot compute the digest of \(path): "), "\(refused)")
    #expect(refused.stderr.contains("libcrypto.so.3"), "\(refused.stderr)")
    #expect(try await daemon.jobs().isEmpty)
    #expect(try await upload(to: "{name}").status == 0)
  }

  @Test("ten thousand files are queued durably and uploaded", .timeLimit(.minutes(10)))
  func bulk() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon("--max-per-origin", "16", "--log-level", "notice")
    let count = 10_000
    let out = try daemon.directory.directory("out")
    for number in 0..<count { try daemon.directory.file("out/\(number)", text: "\(number)") }
    let list = Data((0..<count).map { "\(out)/\($0)\n" }.joined().utf8)
    let ids = try await daemon.uploadAll(
      ["-i", "-", "--to", nginx.url("/in/"), "--protocol", "plain", "--batch", "bulk", "--key", "{path}"], input: list)
    #expect(Set(ids).count == count)
    let memory = daemon.residentBytes
    #expect(try await daemon.ctl("wait", "--batch", "bulk", timeout: .seconds(500)).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: nginx.root + "/in").count == count)
    #expect(daemon.residentBytes < memory + 64 << 20)
    let again = try await daemon.uploadAll(
      ["-i", "-", "--to", nginx.url("/in/"), "--protocol", "plain", "--batch", "bulk", "--key", "{path}"], input: list)
    #expect(again == ids)
  }
}
