import Foundation
import Glibc
import TestSupport
import Testing

@Suite("limits of the daemon", .timeLimit(.minutes(5))) struct LimitTests {
  private func limits(_ daemon: Daemon, _ arguments: String...) async throws -> [String: Any] {
    let result = try await daemon.ctlLaunch(["limit", "--format", "json"] + arguments).runSuccessfully()
    return try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
  }

  private func seconds(_ work: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await work()
    return start.duration(to: .now) / .seconds(1)
  }

  @Test("limit shows what is in force, changes it, keeps it over restarts, and goes back with --reset")
  func shown() async throws {
    let daemon = try await Daemon(config: "transferd:\n  maxActive: 5\n  limitUp: 3M\n")
    var shown = try await limits(daemon)
    #expect(shown["down"] is NSNull && shown["up"] as? Int == 3 << 20 && shown["maxActive"] as? Int == 5)
    #expect(shown["maxPerOrigin"] is NSNull)
    #expect((shown["from"] as? [String: String])?["up"] == "configuration")
    shown = try await limits(daemon, "--down", "1.5M", "--up", "off", "--max-active", "2", "--max-per-origin", "1")
    #expect(shown["down"] as? Int == 1_572_864 && shown["up"] is NSNull && shown["maxActive"] as? Int == 2)
    #expect(shown["maxPerOrigin"] as? Int == 1)
    #expect((shown["from"] as? [String: String])?["down"] == "limit")
    let text = try await daemon.ctl("limit")
    #expect(
      text.status == 0 && text.stdout.contains("max active:") && text.stdout.contains("1.5 MiB/s"), "\(text.stdout)")
    #expect(try await daemon.curl("/v1/stats").json["maxActive"] as? Int == 2)
    try await daemon.restart(by: SIGKILL)
    #expect(NSDictionary(dictionary: try await limits(daemon)) == NSDictionary(dictionary: shown))
    // A reload does not replace what was set.
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    #expect(try await limits(daemon)["maxActive"] as? Int == 2)
    shown = try await limits(daemon, "--reset", "--down", "7")
    #expect(shown["down"] as? Int == 7 && shown["up"] as? Int == 3 << 20 && shown["maxActive"] as? Int == 5)
    shown = try await limits(daemon, "--reset")
    #expect(shown["down"] is NSNull && (shown["from"] as? [String: String])?["down"] == "default")
    for wrong in [
      ["--down", "x"], ["--down", "0"], ["--up", "-1"], ["--max-active", "0"], ["--max-active", "off"],
      ["--max-per-origin", "10001"], ["--format", "table"], ["5"],
    ] {
      #expect(try await daemon.ctlLaunch(["limit"] + wrong).run().status == 64, "\(wrong)")
    }
    #expect(try await daemon.curl("/v1/limits", "-X", "PATCH", "-d", #"{"maxActive":0}"#).status == 400)
    #expect(try await daemon.curl("/v1/limits", "-X", "PATCH", "-d", #"{"speed":1}"#).status == 400)
  }

  @Test("a limit of the daemon holds for all jobs together, small ones too, and changes apply to running transfers")
  func running() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(files: [
      "/large": .file(size: 40 << 20), "/s0": .file(size: 250_000), "/s1": .file(size: 250_000),
      "/s2": .file(size: 250_000), "/s3": .file(size: 250_000),
    ])
    #expect(try await daemon.ctl("limit", "--down", "500000").status == 0)
    let time = try await seconds {
      let result = try await daemon.ctlLaunch(
        ["add", "--wait"] + (0..<4).map { server.url("/s\($0)") }
      ).run()
      #expect(result.status == 0)
    }
    #expect(time > 1.6, "1 MB took \(time) s")
    let id = try await daemon.add(server.url("/large"))
    try await server.waitForRequests(5)
    #expect(try await daemon.job(id).state == "running")
    #expect(try await daemon.ctl("limit", "--down", "off").status == 0)
    // 80 s with the limit.
    #expect(try await daemon.finished(id, timeout: .seconds(60)).state == "completed")
    #expect(server.requests.count { $0.path == "/large" } == 1)
  }

  @Test("set --limit-rate applies to a running transfer without a new request")
  func set() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 40 << 20))
    let id = try await daemon.add(server.url("/large"), "--limit-rate", "100K")
    try await server.waitForRequests(1)
    #expect(try await daemon.ctl("set", id, "--limit-rate", "0").status == 0)
    #expect(try await daemon.finished(id, timeout: .seconds(60)).state == "completed")
    #expect(server.requests.count == 1)
  }

  @Test("limitDown of the configuration and its reload apply to running transfers; a timetable, too")
  func configuration() async throws {
    let daemon = try await Daemon(config: "transferd:\n  limitDown: 100K\n")
    let server = try LoopbackServer(.file(size: 40 << 20))
    let id = try await daemon.add(server.url("/large"))
    try await server.waitForRequests(1)
    let path = daemon.directory.path("config.yaml")
    try "transferd:\n  limitDown: [{rate: 200K}]\n".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    var shown = try await limits(daemon)
    #expect(shown["down"] as? Int == 200 << 10 && (shown["from"] as? [String: String])?["down"] == "timetable")
    #expect(try await daemon.job(id).state == "running")
    try "transferd:\n  limitDown: off\n".write(toFile: path, atomically: true, encoding: .utf8)
    daemon.signal(SIGHUP)
    try await daemon.process?.waitForErrors("configuration reloaded")
    #expect(try await daemon.finished(id, timeout: .seconds(60)).state == "completed")
    shown = try await limits(daemon)
    #expect(shown["down"] is NSNull)
    #expect(server.requests.count == 1)
  }

  @Test("batch set --max-active holds up the other jobs of the batch, and why says so")
  func batchMaxActive() async throws {
    let daemon = try await Daemon("--max-per-origin", "8")
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(size: 10).holding(after: 5, reached: reached, until: proceed))
    let paused = try await daemon.ctl("add", server.url("/0"), "--batch", "b", "--paused")
    #expect(try await daemon.ctl("batch", "set", "b", "--max-active", "1").status == 0)
    #expect(try await daemon.ctl("resume", paused.lines[0]).status == 0)
    try await reached.wait()
    let second = try await daemon.add(server.url("/1"), "--batch", "b")
    // Another job passes it.
    _ = try await daemon.add(server.url("/2"))
    try await server.waitForRequests(1) { $0.path == "/2" }
    let waiting = try await daemon.curl("/v1/jobs/\(second)").json["waiting"] as? [String: Any]
    #expect(waiting?["reason"] as? String == "batch", "\(waiting as Any)")
    let why = try await daemon.ctl("why", second)
    #expect(why.status == 0 && why.stdout.contains("the batch b"), "\(why.stdout)")
    // Applies at once, and is kept over a restart.
    #expect(try await daemon.ctl("batch", "set", "b", "--max-active", "2").status == 0)
    try await server.waitForRequests(1) { $0.path == "/1" }
    proceed.open()
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    try await daemon.restart()
    #expect(try await batch(daemon)["maxActive"] as? Int == 2)
    #expect(try await daemon.ctl("batch", "set", "b", "--max-active", "off").status == 0)
    #expect(try await batch(daemon)["maxActive"] is NSNull)
  }

  private func batch(_ daemon: Daemon) async throws -> [String: Any] {
    let result = try await daemon.ctlLaunch(["batch", "show", "b", "--format", "json"]).runSuccessfully()
    return try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
  }

  @Test("batch set --limit-rate applies to running transfers; --priority to unfinished jobs and to later ones")
  func batchRate() async throws {
    let daemon = try await Daemon("--max-active", "1")
    let server = try LoopbackServer(files: [
      "/large": .file(size: 40 << 20), "/a": .file(size: 1), "/b": .file(size: 1), "/c": .file(size: 1),
      "/d": .file(size: 1),
    ])
    let id = try await daemon.add(server.url("/large"), "--batch", "b", "--limit-rate", "100K")
    try await server.waitForRequests(1)
    #expect(try await daemon.ctl("batch", "set", "b", "--limit-rate", "50K").status == 0)
    for (name, options) in [("a", []), ("b", ["--batch", "b"])] {
      _ = try await daemon.ctlLaunch(["add", server.url("/\(name)")] + options).runSuccessfully()
    }
    #expect(try await daemon.ctl("batch", "set", "b", "--priority", "3").status == 0)
    _ = try await daemon.add(server.url("/c"), "--batch", "b")
    _ = try await daemon.add(server.url("/d"), "--batch", "b", "--priority", "-1")
    let shown = try await batch(daemon)
    #expect(shown["limitRate"] as? Int == 50 << 10 && shown["priority"] as? Int == 3 && shown["maxActive"] is NSNull)
    #expect(try await daemon.jobs().map(\.priority) == [3, 0, 3, 3, -1])
    #expect(try await daemon.ctl("batch", "set", "b", "--limit-rate", "off").status == 0)
    #expect(try await daemon.ctl("set", id, "--limit-rate", "off").status == 0)
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    #expect(server.requests.map(\.path) == ["/large", "/b", "/c", "/a", "/d"])
    #expect(try await daemon.ctl("batch", "set", "unknown", "--max-active", "1").status == 4)
    for wrong in [[], ["--max-active", "0"], ["--limit-rate", "fast"], ["--priority", "1001"]] {
      #expect(try await daemon.ctlLaunch(["batch", "set", "b"] + wrong).run().status == 64, "\(wrong)")
    }
  }

  @Test("origins: maxActive, interval and limitRate of the first match, and a reload of them")
  func origins() async throws {
    let text = """
      transferd:
        maxPerOrigin: 8
        origins:
          - {match: "127.0.0.1", maxActive: 1}

      """
    let daemon = try await Daemon(config: text)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(size: 10).holding(after: 5, reached: reached, until: proceed))
    _ = try await daemon.add(server.url("/0"))
    try await reached.wait()
    let second = try await daemon.add(server.url("/1"))
    var waiting = try await daemon.curl("/v1/jobs/\(second)").json["waiting"] as? [String: Any]
    #expect(waiting?["reason"] as? String == "origin", "\(waiting as Any)")
    #expect((waiting?["detail"] as? String)?.contains("maxActive in origins") == true, "\(waiting as Any)")
    let path = daemon.directory.path("config.yaml")
    try text.replacing("maxActive: 1", with: "maxActive: 2").write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    try await server.waitForRequests(1) { $0.path == "/1" }
    proceed.open()
    #expect(try await daemon.ctl("wait", "--all").status == 0)

    try text.replacing("maxActive: 1", with: "interval: 1s").write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    let time = try await seconds {
      for number in 2..<5 { _ = try await daemon.add(server.url("/\(number)")) }
      waiting = try await daemon.curl("/v1/jobs/5").json["waiting"] as? [String: Any]
      #expect(waiting?["reason"] as? String == "origin" && waiting?["until"] is String, "\(waiting as Any)")
      #expect(try await daemon.ctl("wait", "--all").status == 0)
    }
    #expect(time > 1.9, "three transfers began within \(time) s")

    try text.replacing("maxActive: 1", with: "limitRate: 500000").write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    let large = try LoopbackServer(.file(size: 500_000))
    let limited = try await seconds {
      let result = try await daemon.ctlLaunch(
        ["add", "--wait", "--create-dirs", "-d", "x", large.url("/a"), large.url("/b")]
      ).run()
      #expect(result.status == 0)
    }
    #expect(limited > 1.6, "1 MB took \(limited) s")
  }
}

@Suite(
  "limits and members of the socket's group", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberLimitTests {
  @Test("members neither see nor change the daemon's limits; their batches are theirs")
  func members() async throws {
    let shared = try await SharedDaemon()
    #expect(try await shared.ctl("limit", as: .alice).status == 5)
    #expect(try await shared.ctl("limit", "--down", "1M", as: .alice).status == 5)
    #expect(try await shared.curl("/v1/limits", as: .alice).status == 403)
    for person in [SharedDaemon.Person.service, .root] {
      #expect(try await shared.ctl("limit", as: person).status == 0)
    }
    _ = try await shared.addPaused("a", "--batch", "b", as: .alice)
    #expect(try await shared.ctl("batch", "set", "b", "--max-active", "1", as: .bob).status == 4)
    #expect(try await shared.ctl("batch", "set", "b", "--max-active", "1", as: .alice).status == 0)
    #expect(try await shared.ctl("batch", "set", "b", "--priority", "2", as: .root).status == 0)
  }
}
