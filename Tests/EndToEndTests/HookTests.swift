import Foundation
import Glibc
import TestSupport
import Testing

/// Commands that run when a job ends.
@Suite("hooks", .timeLimit(.minutes(5))) struct HookTests {
  private func config(_ script: String) -> String {
    """
    transferd:
      hooks:
        onComplete: ["/bin/sh", "\(script)", "complete"]
        onFailure: ["/bin/sh", "\(script)", "failure"]
        timeout: 10m
    """
  }

  @Test("a hook runs once per end, with the job as JSON, and its exit is recorded")
  func run() async throws {
    let server = try LoopbackServer { .response($0.path == "/good" ? 201 : 403) }
    let directory = try TemporaryDirectory()
    let script = try directory.file(
      "hook.sh",
      text:
        "cat > \(directory.path)/$1-$TRANSFERD_JOB\necho $TRANSFERD_STATE >> \(directory.path)/$1-$TRANSFERD_JOB\nexit 3\n"
    )
    let daemon = try await Daemon(config: config(script))
    let path = try daemon.source("a $(touch x)", Payload(size: 10))
    for target in ["/good", "/bad"] {
      _ = try await daemon.ctl("upload", path, "--to", server.url(target), "--protocol", "plain", "--wait")
    }
    try await daemon.waitForHistory("hook onComplete: exit 3", of: "1")
    try await daemon.waitForHistory("hook onFailure: exit 3", of: "2")
    let lines = try String(contentsOfFile: directory.path("complete-1"), encoding: .utf8).split(separator: "\n")
    let job = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    #expect(job["id"] as? Int == 1 && job["state"] as? String == "completed" && job["source"] as? String == path)
    #expect(lines[1] == "completed")
    #expect(try directory.names() == ["complete-1", "failure-2", "hook.sh"])
    try await daemon.restart()
    #expect(try await daemon.reasons("1").count == 1)
  }

  @Test("a hook that was interrupted with the daemon runs again")
  func again() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let directory = try TemporaryDirectory()
    // It does not keep the daemon's standard error open, whose end is awaited after the kill.
    let script = try directory.file(
      "hook.sh",
      text: "echo x >> \(directory.path)/runs\ntest -e \(directory.path)/go || exec sleep 1000 > /dev/null 2>&1\n")
    let daemon = try await Daemon(config: config(script))
    let path = try daemon.source("a", Payload(size: 10))
    let id = try await daemon.upload(path, "--to", server.url("/a"), "--protocol", "plain")
    let runs = { (try? String(contentsOfFile: directory.path("runs"), encoding: .utf8)) ?? "" }
    try await eventually("the first run") { runs() == "x\n" }
    try await daemon.kill9()
    try directory.file("go")
    try await daemon.start()
    try await daemon.waitForHistory("hook onComplete: exit 0", of: id)
    #expect(runs() == "x\nx\n")
  }

  @Test("hooks come only from the configuration: a job with a hook is refused, and so is a relative path")
  func configured() async throws {
    let daemon = try await Daemon()
    let answer = try await daemon.curl(
      "/v1/jobs", "-d", #"{"source":"http://h/","directory":"/tmp","onComplete":["/bin/sh"]}"#)
    #expect(answer.status == 400)
    let other = try await Daemon(config: "transferd:\n  hooks:\n    onComplete: [\"sh\"]\n", isStarted: false)
    let process = try other.launch()
    let result = try await process.result()
    #expect(result.status == 1 && result.stderr.contains("absolute path"))
  }
}
