import Foundation
import Glibc
import TestSupport
import Testing

/// --if-exists in its five forms, and what a job's result says.
@Suite("a destination that exists", .timeLimit(.minutes(5))) struct IfExistsTests {
  private static let payload = Payload(size: 5_000)

  /// A daemon, a server and a file of somebody at the destination.
  private struct Scene {
    let daemon: Daemon
    let server: LoopbackServer

    init(_ behaviour: FileBehaviour = .file(payload), content: Payload? = Payload(size: 5_000, seed: 9)) async throws {
      (daemon, server) = (try await Daemon(), try LoopbackServer(behaviour))
      try content?.write(to: daemon.downloaded("a.tar.gz"))
    }

    func add(_ options: String...) async throws -> ChildProcess.Result {
      try await daemon.run(["add", server.url("/a.tar.gz"), "-d", daemon.downloads] + options)
    }

    func digest(_ name: String = "a.tar.gz") throws -> String { try sha256(ofFile: daemon.downloaded(name)) }

    /// The job of a command.
    func job(_ result: ChildProcess.Result) async throws -> Daemon.StatusJob {
      try await daemon.job(try #require(result.lines.first))
    }
  }

  private static func line(_ transferred: Int, _ unchanged: Int, _ skipped: Int, _ failed: Int) -> String {
    let total = transferred + unchanged + skipped + failed
    return "\(total) jobs: \(transferred) transferred, \(unchanged) unchanged, \(skipped) skipped, \(failed) failed"
  }

  private static func last(_ result: ChildProcess.Result) -> String? {
    result.stderr.split(separator: "\n").last.map(String.init)
  }

  @Test("fail is the default: nothing is added", arguments: [[], ["--if-exists", "fail"]])
  func fail(_ options: [String]) async throws {
    let scene = try await Scene()
    let result = try await scene.daemon.run(
      ["add", scene.server.url("/a.tar.gz"), "-d", scene.daemon.downloads] + options)
    #expect(result.status == 73 && result.lines.isEmpty)
    #expect(try await scene.daemon.jobs().isEmpty)
  }

  @Test("skip completes at once, without a request")
  func skip() async throws {
    let scene = try await Scene()
    let result = try await scene.add("--if-exists", "skip", "--wait")
    #expect(result.status == 0 && Self.last(result) == Self.line(0, 0, 1, 0), "\(result.stderr)")
    let job = try await scene.job(result)
    #expect(job.result == "skipped" && job.state == "completed" && job.bytesDone == 0 && scene.server.requests.isEmpty)
    #expect(try scene.digest() == Payload(size: 5_000, seed: 9).sha256)
    #expect(try await scene.daemon.ctl("show", "1").stdout.contains("skipped"))
    #expect(try await scene.daemon.ctl("status", "--format", "wide").stdout.contains("skipped"))
  }

  @Test("verify keeps a file with the right digest, of the user or of the server, and replaces any other")
  func verify() async throws {
    let scene = try await Scene(FileBehaviour.file(Self.payload).digest(.reprDigest))
    let checksum = "sha-256=\(Self.payload.sha256)"
    let other = try await scene.add("--if-exists", "verify", "--checksum", checksum, "--wait")
    #expect(other.status == 0 && Self.last(other) == Self.line(1, 0, 0, 0))
    #expect(try scene.digest() == Self.payload.sha256)
    let same = try await scene.add("--if-exists", "verify", "--checksum", checksum, "--wait")
    #expect(try await scene.job(same).result == "unchanged" && scene.server.requests.count == 1)
    let declared = try await scene.add("--if-exists", "verify", "--wait")
    #expect(try await scene.job(declared).result == "unchanged" && scene.server.requests.count == 2)
    #expect(Self.last(declared) == Self.line(0, 1, 0, 0))
  }

  @Test("verify without any digest fetches a file of the same length again")
  func verifyUnknown() async throws {
    let scene = try await Scene(content: Self.payload)
    #expect(try await scene.job(scene.add("--if-exists", "verify", "--wait")).result == "transferred")
  }

  @Test("rename chooses the name when the file lands, for any number of jobs at once")
  func rename() async throws {
    let scene = try await Scene()
    let list = (0..<30).map { "\(scene.server.url("/\($0)/a.tar.gz"))\n" }.joined()
    let result = try await scene.daemon.run(
      ["add", "-i", "-", "-d", scene.daemon.downloads, "--if-exists", "rename", "--wait"], input: Data(list.utf8))
    #expect(result.status == 0 && Self.last(result) == Self.line(30, 0, 0, 0), "\(result.stderr)")
    let names = Set((1...30).map { "a.tar.\($0).gz" })
    #expect(try Set(scene.daemon.fileNames) == names.union(["a.tar.gz"]))
    let jobs = try await scene.daemon.jobs()
    #expect(Set(jobs.map { ($0.destination as NSString).lastPathComponent }) == names)
    #expect(try scene.digest() == Payload(size: 5_000, seed: 9).sha256)
    try Data().write(to: URL(fileURLWithPath: scene.daemon.downloaded(".rc")))
    let hidden = try await scene.daemon.ctl(
      "add", scene.server.url("/x"), "-o", ".rc", "--if-exists", "rename", "--wait")
    #expect(try await scene.job(hidden).destination == scene.daemon.downloaded(".rc.1"))
    let shown = try await scene.daemon.curl("/v1/jobs/31").json
    #expect(shown["destination"] as? String == scene.daemon.downloaded(".rc.1"))
    #expect((shown["options"] as? [String: Any])?["ifExists"] as? String == "rename")
  }

  @Test(
    "replace is --replace, by either option",
    arguments: [["--replace"], ["--if-exists", "replace"], ["--replace", "--if-exists", "replace"]])
  func replace(_ options: [String]) async throws {
    let scene = try await Scene()
    let result = try await scene.daemon.run(
      ["add", scene.server.url("/a.tar.gz"), "-d", scene.daemon.downloads, "--wait"] + options)
    #expect(result.status == 0)
    #expect(try scene.digest() == Self.payload.sha256)
    let shown = try await scene.daemon.curl("/v1/jobs/1").json
    let stored = shown["options"] as? [String: Any]
    #expect(stored?["replace"] as? Bool == true && stored?["ifExists"] as? String == "replace")
    #expect(shown["result"] as? String == "transferred")
  }

  @Test("contradictions are mistakes: 64 for the command, 400 for the API")
  func contradictions() async throws {
    let daemon = try await Daemon()
    for options in [
      ["--replace", "--if-exists", "skip"], ["--replace", "--if-exists", "fail"], ["--if-exists", "maybe"],
      ["--if-changed", "--key", "k"], ["--if-changed", "--if-exists", "rename"], ["--if-changed", "-J"],
      ["--if-changed", "--header", "If-None-Match: x"], ["--if-changed", "--on-success", "move=sent"],
    ] {
      let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads] + options)
      #expect(result.status == 64 && !result.stderr.isEmpty, "\(options) \(result.status)")
    }
    for url in ["scp://127.0.0.1/a", "http://127.0.0.1:9/"] {
      #expect(try await daemon.ctl("add", url, "-d", daemon.downloads, "--if-changed").status == 64, "\(url)")
    }
    for fields in [
      #""replace":true,"ifExists":"skip""#, #""replace":true,"ifExists":"fail""#, #""ifExists":"maybe""#,
      #""ifExists":1"#,
      #""ifChanged":true,"key":"k""#, #""ifChanged":true,"ifExists":"verify""#, #""ifChanged":"yes""#,
    ] {
      let body = #"{"source":"http://127.0.0.1:9/a","destination":"\#(daemon.downloads)/a",\#(fields)}"#
      #expect(try await daemon.curl("/v1/jobs", "-d", body).status == 400, "\(fields)")
      let line = try await daemon.curl("/v1/jobs:batch", "-H", "Content-Type: application/x-ndjson", "-d", body)
      #expect(line.body.contains(#""error""#), "\(fields)")
    }
    let upload = try await daemon.ctl(
      "upload", try daemon.source("s", Payload(size: 1)), "--to", "http://127.0.0.1:9/a", "--if-exists", "skip")
    #expect(upload.status == 64)
    let keyed = try await daemon.curl(
      "/v1/jobs", "-H", "Idempotency-Key: k", "-d",
      #"{"source":"http://127.0.0.1:9/a","destination":"\#(daemon.downloads)/a","ifChanged":true}"#)
    #expect(keyed.status == 400)
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("lines of JSON have their own rules, and override the command's")
  func lines() async throws {
    let scene = try await Scene()
    let lines = [
      #"{"url":"\#(scene.server.url("/a.tar.gz"))","ifExists":"skip"}"#,
      #"{"url":"\#(scene.server.url("/b"))"}"#,
      #"{"url":"\#(scene.server.url("/c"))","destination":"a.tar.gz","ifExists":"rename"}"#,
    ].joined(separator: "\n")
    let result = try await scene.daemon.run(
      ["add", "-i", "-", "-d", scene.daemon.downloads, "--replace", "--batch", "b", "--wait"], input: Data(lines.utf8))
    #expect(result.status == 0 && Self.last(result) == Self.line(2, 0, 1, 0), "\(result.stderr)")
    #expect(try Set(scene.daemon.fileNames) == ["a.tar.gz", "a.tar.1.gz", "b"])
    let batch = try await scene.daemon.ctl("batch", "show", "b", "--format", "json")
    #expect(batch.stdout.contains(#""results":{"skipped":1,"transferred":2,"unchanged":0}"#), "\(batch.stdout)")
    #expect(try await scene.daemon.ctl("batch", "show", "b").stdout.contains("2 transferred, 0 unchanged, 1 skipped"))
    // An exported job keeps its rule.
    let exported = try await scene.daemon.ctl("export", "3").stdout
    #expect(exported.contains(#""ifExists":"rename""#))
    try await scene.daemon.restart()
    #expect(try await scene.daemon.jobs().map(\.result) == ["skipped", "transferred", "transferred"])
  }

  @Test("a failed job has no result, and the last line counts it")
  func failed() async throws {
    let server = try LoopbackServer(files: ["/a": .file(Self.payload)])
    let daemon = try await Daemon()
    let result = try await daemon.ctl("add", server.url("/a"), server.url("/none"), "-d", daemon.downloads, "--wait")
    #expect(result.status == 1 && Self.last(result) == Self.line(1, 0, 0, 1), "\(result.stderr)")
    #expect(try await daemon.jobs().map(\.result) == ["transferred", nil])
    let paused = try await daemon.add(server.url("/a"), "-o", "b", "--paused")
    #expect(try await daemon.job(paused).result == nil)
    let again = try await daemon.ctl("wait", "1", "2")
    #expect(again.status == 1 && Self.last(again) == Self.line(1, 0, 0, 1))
  }

  @Test("a hook is told the result")
  func hook() async throws {
    let directory = try TemporaryDirectory()
    let script = try directory.file(
      "hook.sh", text: "{ echo \"$TRANSFERD_RESULT\"; cat; } > \(directory.path)/$TRANSFERD_JOB\n")
    let daemon = try await Daemon(
      config: "transferd:\n  hooks:\n    onComplete: [/bin/sh, \(script)]\n    onFailure: [/bin/sh, \(script)]\n")
    try Self.payload.write(to: daemon.downloaded("a"))
    let server = try LoopbackServer(files: ["/a": .file(Self.payload)])
    _ = try await daemon.ctl("add", server.url("/a"), "--if-exists", "skip", "--wait")
    _ = try await daemon.ctl("add", server.url("/none"), "--wait")
    try await daemon.waitForHistory("hook onComplete: exit 0", of: "1")
    try await daemon.waitForHistory("hook onFailure: exit 0", of: "2")
    let skipped = try String(contentsOfFile: directory.path("1"), encoding: .utf8)
    #expect(skipped.hasPrefix("skipped\n{") && skipped.contains(#""result":"skipped""#))
    #expect(try String(contentsOfFile: directory.path("2"), encoding: .utf8).hasPrefix("\n{"))
    let events = try await daemon.ctl("events", "--format", "json").lines
    #expect(events.contains { $0.contains(#""result":"skipped""#) && $0.contains(#""to":"completed""#) })
  }
}
