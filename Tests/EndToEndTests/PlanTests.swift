import Foundation
import TestSupport
import Testing

@Suite("plan", .timeLimit(.minutes(5))) struct PlanTests {
  private func plan(_ daemon: Daemon, _ arguments: String...) async throws -> [String: Any] {
    let result = try await daemon.ctlLaunch(["plan", "--format", "json"] + arguments).runSuccessfully()
    return try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
  }

  @Test("plan shows the order and the expected times of what waits, and what cannot be said")
  func plan() async throws {
    let (reached, proceed) = (Gate(), Gate())
    // Without ranges, so that it keeps its slot.
    let hanging = try LoopbackServer(
      FileBehaviour.file(size: 3_000_000).serving { file, _ in file.honoursRange = false }
        .holding(after: 2_000_000, reached: reached, until: proceed))
    let daemon = try await Daemon("--max-active", "1")
    #expect(try await plan(daemon)["more"] as? Int == 0)
    let empty = try await daemon.ctl("plan")
    #expect(empty.status == 0 && empty.stdout.isEmpty && empty.stderr.contains("no job waits"))
    let running = try await daemon.add(hanging.url("/running"), "-d", daemon.downloads)
    try await reached.wait()
    let low = try await daemon.add("http://127.0.0.1:9/low", "-d", daemon.downloads)
    let high = try await daemon.add(
      "http://127.0.0.1:9/high", "-d", daemon.downloads, "--priority", "5", "--batch", "b")
    let late = try await daemon.add("http://127.0.0.1:9/late", "-d", daemon.downloads, "--not-before", "+2h")
    let after = try await daemon.add("http://127.0.0.1:9/after", "-d", daemon.downloads, "--after", running)
    _ = try await daemon.addPaused("paused", "-d", daemon.downloads)
    let shown = try await plan(daemon)
    let jobs = try #require(shown["jobs"] as? [[String: Any]])
    #expect(
      Set(jobs.compactMap { $0["id"] as? Int }.map(String.init)) == [low, high, late, after]
        && shown["more"] as? Int == 0)
    let order = jobs.compactMap { $0["id"] as? Int }.map(String.init)
    #expect(order.firstIndex(of: high)! < order.firstIndex(of: low)!)
    for job in jobs {
      #expect(job["end"] is NSNull && job["bytesLeft"] is NSNull && job["state"] as? String == "queued")
      #expect(job.keys.contains("start") && job["source"] is String && job["destination"] is String)
    }
    let reasons = Dictionary(
      uniqueKeysWithValues: jobs.map { job in
        ("\(job["id"] ?? "")", (job["waiting"] as? [String: Any])?["reason"] as? String)
      })
    #expect(reasons == [low: "slot", high: "slot", late: "not-before", after: "after"])
    let batch = try await plan(daemon, "--batch", "b")
    #expect((batch["jobs"] as? [[String: Any]])?.map { "\($0["id"] ?? "")" } == [high])
    #expect((try await plan(daemon, "--all")["jobs"] as? [Any])?.count == 4)
    let text = try await daemon.ctl("plan")
    #expect(text.status == 0 && text.stdout.contains("START") && text.stdout.contains("late"), "\(text.stdout)")
    #expect(try await daemon.ctl("plan", "--batch", "x").status == 4)
    #expect(try await daemon.ctl("plan", "--batch", "b", "--all").status == 64)
    #expect(try await daemon.ctl("plan", "--format", "table").status == 64)
    #expect(try await daemon.curl("/v1/plan?batch=x").status == 404)
    // The plan changed nothing.
    #expect(try await daemon.job(low).state == "queued")
    proceed.open()
    #expect(try await daemon.ctl("wait", running).status == 0)
  }

  @Test("with a known size and an observed speed a waiting job has a start and an end")
  func times() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/done": .file(size: 500_000),
      "/known": FileBehaviour.file(size: 3_000_000).holding(after: 2_000_000, reached: reached, until: proceed),
    ])
    let daemon = try await Daemon()
    let done = try await daemon.add(server.url("/done"), "-d", daemon.downloads)
    #expect(try await daemon.ctl("wait", done).status == 0)
    // It has begun, so its size is known, and waits for a slot that a paused upload of its line never frees.
    let known = try await daemon.add(server.url("/known"), "-d", daemon.downloads, "--batch", "b")
    try await reached.wait()
    #expect(try await daemon.ctl("pause", known).status == 0)
    let first = try await daemon.addPaused("first", "-d", daemon.downloads, "--batch", "b")
    #expect(try await daemon.ctl("batch", "set", "b", "--max-active", "1").status == 0)
    let hanging = try LoopbackServer { _ in [.stall] }
    let blocker = try await daemon.add(hanging.url("/x"), "-d", daemon.downloads, "--batch", "b")
    try await daemon.reached("running", by: blocker)
    #expect(try await daemon.ctl("resume", known).status == 0)
    let jobs = try #require(try await plan(daemon)["jobs"] as? [[String: Any]])
    let entry = try #require(jobs.first { "\($0["id"] ?? "")" == known })
    let bytes = try #require(entry["bytesLeft"] as? Int)
    #expect(bytes > 0 && bytes < 3_000_000, "\(entry)")
    // Nothing is known of what runs before it, but how long files usually are.
    #expect(entry["waiting"] is [String: Any] && entry["batch"] as? String == "b")
    #expect(jobs.count == 1 && first != known)
    proceed.open()
  }
}
