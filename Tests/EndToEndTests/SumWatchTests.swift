import Foundation
import TestSupport
import Testing

@Suite("Waiting for many jobs", .timeLimit(.minutes(5))) struct SumWatchTests {
  private func list(_ daemon: Daemon, _ url: (Int) -> String, _ count: Int) throws -> String {
    let path = daemon.downloads + "/list-\(UUID().uuidString)"
    try Data((1...count).map { url($0) + "\n" }.joined().utf8).write(to: URL(filePath: path))
    return path
  }

  @Test("wait --batch follows a large batch by its sums, and names each job that failed")
  func batch() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    let good = try list(daemon, { server.url("/f\($0)") }, 150)
    _ = try await daemon.ctl("add", "-i", good, "--batch", "b", "-d", daemon.downloads)
    let done = try await daemon.ctl("wait", "--batch", "b")
    #expect(
      done.status == 0 && done.stderr.hasSuffix("150 jobs: 150 transferred, 0 unchanged, 0 skipped, 0 failed\n"),
      "\(done.stderr)")
    let paused = try await daemon.addPaused("x", "--batch", "b")
    try await daemon.ctl("cancel", paused)
    for target in [["--batch", "b"], ["--all"]] {
      let failed = try await daemon.run(["wait"] + target)
      #expect(failed.status == 1, "\(target)")
      #expect(
        failed.stderr == "job \(paused) was cancelled\n151 jobs: 150 transferred, 0 unchanged, 0 skipped, 1 failed\n",
        "\(failed.stderr)")
    }
    #expect(try await daemon.ctl("wait", "--batch", "none").status == 4)
  }

  @Test("a job that fails during the wait is named once, and ends it with 1 when all have ended")
  func failing() async throws {
    let daemon = try await Daemon()
    let paused = try list(daemon, { "http://127.0.0.1:9/p\($0)" }, 120)
    _ = try await daemon.ctl("add", "-i", paused, "--batch", "b", "--paused", "-d", daemon.downloads)
    #expect(try await daemon.ctl("wait", "--batch", "b", "--timeout", "1s").status == 124)
    let waiting = try daemon.ctlStarted("wait", "--batch", "b")
    try await WaitTests.untilConnected(daemon, waiting)
    try await daemon.ctl("cancel", "1")
    try await waiting.waitForErrors("job 1 was cancelled")
    try await daemon.ctl("cancel", "--batch", "b")
    let result = try await waiting.result()
    #expect(result.status == 1)
    // On a slow machine, lines about the progress are between them.
    let lines = result.stderr.split(separator: "\n").map(String.init)
    let named = lines.filter { $0.hasPrefix("job ") }
    #expect(named.count == 120 && Set(named) == Set((1...120).map { "job \($0) was cancelled" }))
    #expect(lines.last == "120 jobs: 0 transferred, 0 unchanged, 0 skipped, 120 failed")
  }

  @Test("the stream of sums is for all jobs or a batch, and sends a change once")
  func stream() async throws {
    let daemon = try await Daemon()
    for query in ["sums=true&jobs=1", "sums=true&final=true", "sums=true&progress=true", "sums=maybe"] {
      #expect(try await daemon.curl("/v1/events?\(query)").status == 400, "\(query)")
    }
    #expect(try await daemon.curl("/v1/events?sums=true&batch=none").status == 404)
    _ = try await daemon.addPaused("x")
    let answer = try await daemon.curl("/v1/events?sums=true&since=0", "--max-time", "2")
    #expect(answer.body.components(separatedBy: "event: sums").count == 2)
    #expect(answer.body.contains("\"paused\":1"))
  }

  @Test("status --watch shows a change, and ends with 130 at Ctrl-C")
  func watch() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    let watching = try daemon.ctlStarted("status", "--watch")
    try await watching.waitForOutput("paused")
    try await daemon.ctl("cancel", "1")
    try await watching.waitForOutput("cancelled")
    watching.kill(SIGINT)
    #expect(try await watching.result().status == 130)
  }
}
