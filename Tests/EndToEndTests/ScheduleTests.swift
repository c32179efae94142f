import Foundation
import Glibc
import TestSupport
import Testing

/// Start times, deadlines, retries for a time, and why a job waits.
@Suite("when jobs run", .timeLimit(.minutes(5))) struct ScheduleTests {
  private static func waiting(_ daemon: Daemon, _ id: String) async throws -> [String: Any]? {
    try await daemon.curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any]
  }

  private static func why(_ daemon: Daemon, _ id: String) async throws -> String {
    let result = try await daemon.ctl("why", id)
    #expect(result.status == 0, "\(result.stderr)")
    return result.stdout
  }

  @Test("a job begins at its start time, not before, also after a restart")
  func notBefore() async throws {
    let server = try TimedServer(.file(size: 100))
    let daemon = try await Daemon()
    func add(_ name: String, _ start: Date) async throws -> String {
      let time = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(start)
      return try await daemon.add(server.server.url("/\(name)"), "-d", daemon.downloads, "--not-before", time)
    }
    let tomorrow = Date().addingTimeInterval(86_400)
    let id = try await add("tomorrow", tomorrow)
    let waiting = try await Self.waiting(daemon, id)
    #expect(waiting?["reason"] as? String == "not-before" && waiting?["until"] is String, "\(waiting as Any)")
    #expect(try await Self.why(daemon, id).contains("it begins at its start time"))
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    let shown = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(tomorrow)
    #expect((options?["notBefore"] as? String)?.prefix(19) == shown.prefix(19))
    // The daemon is killed while it waits for this time, or after it: the job begins after it in both cases.
    let start = Date().addingTimeInterval(3)
    let soon = try await add("soon", start)
    try await daemon.kill9()
    try await daemon.start()
    #expect(try await daemon.ctl("wait", soon).status == 0)
    #expect(Date() >= start)
    let job = try await daemon.curl("/v1/jobs/\(soon)").json
    #expect(job["result"] as? String == "transferred" && job["waiting"] is NSNull)
    let started = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(
      try #require(job["startedAt"] as? String))
    #expect(started >= start.addingTimeInterval(-0.001))
    #expect(server.server.requests.map(\.path) == ["/soon"])
    #expect(try await daemon.job(id).state == "queued")
  }

  @Test("a running job fails at its deadline and keeps its bytes; a retry completes it")
  func deadline() async throws {
    let payload = Payload(size: 3_000_000)
    let server = try LoopbackServer(FileBehaviour.file(payload).stalling(after: 2_000_000))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-d", daemon.downloads, "--deadline", "+8s")
    let ended = try await daemon.ctl("wait", id)
    #expect(ended.status == 1)
    let job = try await daemon.job(id)
    #expect(job.error?.code == "deadline" && job.error?.transient == false)
    let bytes = try await daemon.curl("/v1/jobs/\(id)").json["bytesDone"] as? Int ?? 0
    #expect(bytes > 0 && bytes < 3_000_000)
    #expect(try await Self.why(daemon, id).contains("(deadline)"))
    _ = try await daemon.ctl("retry", id)
    #expect(try await daemon.ctl("wait", id).status == 0)
    #expect(try Data(contentsOf: URL(filePath: daemon.downloads + "/a")) == payload.data)
    let shown = try await daemon.ctl("show", id, "--format", "json")
    #expect(shown.stdout.contains("\"resumedFrom\":\(bytes)"), "\(shown.stdout)")
  }

  @Test("jobs that do not run fail at their deadlines: paused, retrying, and waiting for a later start")
  func idleDeadline() async throws {
    let closed = try ClosedPort()
    let daemon = try await Daemon()
    let url = "http://127.0.0.1:\(closed.number)/a"
    let ids = [
      try await daemon.add(url, "-d", daemon.downloads, "-o", "p", "--deadline", "+8s", "--paused"),
      try await daemon.add(url, "-d", daemon.downloads, "-o", "r", "--deadline", "+8s"),
    ]
    let stopped = try await daemon.add(url, "-d", daemon.downloads, "-o", "s", "--deadline", "+4s", "--paused")
    let passed = Date().addingTimeInterval(4)
    // A deadline that passes while the daemon is stopped counts at its start.
    try await daemon.kill9()
    // Nothing to wait for but the clock.
    while Date() < passed { try await Task.sleep(for: .milliseconds(50)) }
    try await daemon.start()
    for id in ids + [stopped] {
      #expect(try await daemon.ctl("wait", id).status == 1)
      #expect(try await daemon.job(id).error?.code == "deadline")
    }
    let history = try await daemon.ctl("events", stopped)
    #expect(history.stdout.contains("deadline"), "\(history.stdout)")
  }

  @Test("with --retry-for a job is tried for that time, however often")
  func retryFor() async throws {
    let server = try LoopbackServer { _ in .response(503) }
    let daemon = try await Daemon()
    let began = ContinuousClock.now
    let result = try await daemon.ctl("add", server.url("/a"), "-d", daemon.downloads, "--retry-for", "4s", "--wait")
    let duration = began.duration(to: .now)
    #expect(result.status == 1 && server.requests.count >= 2, "\(result.stderr)")
    #expect(duration < .seconds(30))
    let job = try await daemon.curl("/v1/jobs/\(result.lines[0])").json
    #expect((job["error"] as? [String: Any])?["code"] as? String == "http-503")
    let both = try await daemon.ctl(
      "add", server.url("/b"), "-d", daemon.downloads, "--retry-for", "1h", "--retries", "0", "--wait")
    #expect(both.status == 1)
  }

  @Test("every waiting job says why, in lists, in show and with why")
  func reasons() async throws {
    let hanging = try LoopbackServer { _ in [.stall] }
    let busy = try LoopbackServer { _ in .response(503, headers: ["Retry-After": "600"]) }
    let daemon = try await Daemon("--max-active", "3", "--max-per-origin", "1")
    func add(_ url: String, _ name: String, _ more: String...) async throws -> String {
      let result = try await daemon.run(["add", url, "-d", daemon.downloads, "-o", name] + more)
      return try #require(result.lines.first, "\(result.stderr)")
    }
    let running = try await add(hanging.url("/a"), "running")
    let perOrigin = try await add(hanging.url("/b"), "origin")
    let retry = try await add(busy.url("/a"), "retry")
    try await daemon.reached("retrying", by: retry)
    let paused = try await add(busy.url("/b"), "paused", "--paused")
    let closed = try await add(busy.url("/c"), "closed")
    for (id, reason, words) in [
      (perOrigin, "origin", "as many as maxPerOrigin allows"), (retry, "retry", "the last attempt failed (http-503)"),
      (closed, "origin", "has asked for a pause (Retry-After)"),
    ] {
      let waiting = try await Self.waiting(daemon, id)
      #expect(waiting?["reason"] as? String == reason && (waiting?["detail"] as? String)?.contains(words) == true)
      #expect(try await Self.why(daemon, id).contains(words))
      #expect(try await daemon.ctl("show", id).stdout.contains(words))
    }
    #expect(try await Self.why(daemon, running).hasPrefix("job \(running) runs: attempt 1"))
    #expect(
      try await Self.why(daemon, paused) == "job \(paused) is paused.\ntransferctl resume \(paused) continues it.\n")
    let list = try await daemon.run(["status", "--format", "jsonl"]).lines
    let reasons = try list.map { line -> String in
      let job = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return (job?["waiting"] as? [String: Any])?["reason"] as? String ?? "-"
    }
    #expect(reasons == ["-", "origin", "retry", "-", "origin"], "\(reasons)")
    #expect(try await daemon.ctl("why", "99").status == 4)
    let others = try LoopbackServer { _ in [.stall] }
    let third = try LoopbackServer { _ in [.stall] }
    _ = try await add(others.url("/a"), "second")
    let last = try await add(third.url("/a"), "third")
    try await daemon.reached("running", by: last)
    let fourth = try await add("http://127.0.0.1:9/a", "slot")
    #expect(try await Self.why(daemon, fourth).contains("3 transfers run, as many as maxActive allows"))
  }

  @Test("the same key returns the same job after its deadline, and a time that cannot be written again is refused")
  func repeated() async throws {
    let daemon = try await Daemon()
    func add(_ deadline: Date) async throws -> Daemon.Answer {
      let time = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(deadline)
      let body =
        #"{"source":"http://127.0.0.1:9/a","directory":"\#(daemon.downloads)","key":"k","deadline":"\#(time)"}"#
      return try await daemon.curl("/v1/jobs", "-d", body)
    }
    let deadline = Date().addingTimeInterval(5)
    let first = try await add(deadline)
    #expect(first.status == 201, "\(first)")
    #expect(try await daemon.ctl("wait", "\(first.json["id"] ?? "")").status == 1)
    let again = try await add(deadline)
    #expect(again.status == 200 && again.json["id"] as? Int == first.json["id"] as? Int, "\(again)")
    for time in ["9999-12-31T23:30:00-01:00", "0000-01-01T00:00:00+01:00", "2026-11-23T22:00:00Zx"] {
      let body = #"{"source":"http://127.0.0.1:9/b","directory":"\#(daemon.downloads)","deadline":"\#(time)"}"#
      #expect(try await daemon.curl("/v1/jobs", "-d", body).status == 400, "\(time)")
    }
    #expect(try await daemon.jobs().count == 1)
  }

  @Test(
    "a wrong time is named before a job exists",
    arguments: [
      (["--not-before", "25:00"], "22:00 or +2h"), (["--deadline", "yesterday"], "22:00 or +2h"),
      (["--deadline", "2020-01-01T00:00:00Z"], "has passed"), (["--retry-for", "0"], "retry-for"),
      (["--not-before", "+2h", "--deadline", "+1h"], "--deadline is not later than --not-before"),
      (["--not-befor", "+1h"], "--not-before"),
    ] as [([String], String)])
  func mistakes(_ options: [String], _ words: String) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads] + options)
    #expect(result.status == 64 && result.stderr.contains(words), "\(result.status) \(result.stderr)")
    #expect(try await daemon.jobs().isEmpty)
  }
}
