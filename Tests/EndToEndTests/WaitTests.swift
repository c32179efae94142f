import Foundation
import TestSupport
import Testing

@Suite("transferctl wait and watch", .timeLimit(.minutes(5))) struct WaitTests {
  @Test("wait ends with 0 if all jobs completed, 1 if one failed or was cancelled, 4 if one is unknown")
  func endings() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(files: ["/a": .file(size: 10), "/b": .file(size: 10)])
    let a = try await daemon.add(server.url("/a"), "--batch", "good")
    let b = try await daemon.add(server.url("/b"), "--batch", "good")
    for arguments in [[a, b], ["--batch", "good"], ["--all"]] {
      let result = try await daemon.run(["wait"] + arguments)
      #expect(result.status == 0 && result.stdout == "", "\(arguments)")
    }
    let c = try await daemon.add(server.url("/c"), "--batch", "bad")
    #expect(try await daemon.ctl("wait", a, c).status == 1)
    #expect(try await daemon.ctl("wait", "--batch", "bad").status == 1)
    #expect(try await daemon.ctl("wait", "--all").status == 1)
    let d = try await daemon.addPaused("d")
    try await daemon.ctl("cancel", d)
    #expect(try await daemon.ctl("wait", d).status == 1)
    #expect(try await daemon.ctl("wait", "99").status == 4)
    #expect(try await daemon.ctl("wait", "--batch", "none").status == 4)
    for arguments in [[], [a, "--all"], ["--batch", "x", "--all"], [a, "--timeout", "x"]] {
      #expect(try await daemon.run(["wait"] + arguments).status == 64, "\(arguments)")
    }
    #expect(try await daemon.ctl("watch", a, c).status == 0)
  }

  @Test("--timeout exits with 124, an interrupt with 130; the jobs continue")
  func cutShort() async throws {
    let daemon = try await Daemon()
    let id = try await daemon.addPaused("x")
    #expect(try await daemon.ctl("wait", id, "--timeout", "1s").status == 124)
    for verb in ["wait", "watch"] {
      let child = try daemon.ctlStarted(verb, id, "--no-autostart")
      // Nothing is printed while the command waits for a paused job.
      try await Self.untilConnected(daemon, child)
      try await Self.untilCatching(SIGINT, child)
      child.kill(SIGINT)
      #expect(try await child.result().status == 130, "\(verb)")
    }
    #expect(try await daemon.job(id).state == "paused")
  }

  /// Waits until the program has a handler for the signal: the mask of caught signals in proc(5). An earlier signal would
  /// kill the program, which a shell also reports as 130.
  static func untilCatching(_ signal: Int32, _ child: ChildProcess) async throws {
    try await eventually("a signal handler") {
      let status = try String(contentsOfFile: "/proc/\(child.pid)/status", encoding: .utf8)
      let mask = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.split(separator: "\t").last
      guard let mask, let bits = UInt64(mask, radix: 16) else { return false }
      return bits & (1 << UInt64(signal - 1)) != 0
    }
  }

  /// Waits until the daemon has accepted a client: unix(7) shows such a socket in state 3, with the server's path.
  /// - Parameter client: ends the wait if it ends.
  static func untilConnected(_ daemon: Daemon, _ client: ChildProcess) async throws {
    do {
      try await eventually("a connected client") {
        guard client.isRunning else {
          throw TestSupportError.failed(program: "transferctl", reason: client.errorsSoFar)
        }
        let table = try procText("/proc/net/unix")
        return table.split(separator: "\n").contains { $0.contains(" 03 ") && $0.hasSuffix(" " + daemon.socketPath) }
      }
    } catch TestSupportError.timedOut {
      let table = try procText("/proc/net/unix")
      let sockets = table.split(separator: "\n").filter { $0.hasSuffix(daemon.socketPath) }.joined(separator: "\n")
      throw TestSupportError.failed(
        program: "transferctl", reason: "not connected after two minutes: \(client.errorsSoFar)\n\(sockets)")
    }
  }

  @Test("wait survives a restart of a stopped or killed daemon")
  func restart() async throws {
    let daemon = try await Daemon()
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      .file(size: 200_000).holding(after: 100_000, reached: reached, until: proceed, on: .first(3)))
    let id = try await daemon.add(server.url("/x"))
    var launch = try daemon.ctlLaunch(["wait", id])
    launch.errors = .terminal
    launch.environment["TERM"] = "xterm"
    let waiting = try ChildProcess(launch)
    try await reached.wait()
    // The bar is drawn after the first response: a client without any response would not reconnect.
    try await waiting.waitForErrors("%")
    try await daemon.restart()
    try await daemon.restart(by: SIGKILL)
    proceed.open()
    let result = try await waiting.result(timeout: .seconds(60))
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try await daemon.job(id).state == "completed")
  }

  @Test("events prints every change in order; --since and ids select events, --follow continues")
  func events() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(files: ["/a": .file(size: 10)])
    _ = try await daemon.finished(daemon.add(server.url("/a")))
    _ = try await daemon.finished(daemon.add(server.url("/b")))
    func events(_ arguments: String...) async throws -> [[String: Any]] {
      try await daemon.run(["events", "--format", "json"] + arguments).lines.compactMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    }
    let all = try await events()
    let numbers = all.compactMap { $0["seq"] as? Int }
    #expect(numbers == numbers.sorted() && Set(numbers).count == all.count)
    #expect(
      all.map { $0["to"] as? String } == ["queued", "running", "completed", "queued", "running", "failed"])
    #expect(try await events("2").count == 3)
    #expect(
      try await events("--since", "\(numbers[3])").compactMap { $0["seq"] as? Int } == Array(numbers[4...]))
    #expect(try await daemon.ctl("events", "99").status == 4)
    #expect(try await daemon.ctl("events", "--since=-1").status == 64)

    let following = try daemon.ctlStarted("events", "--follow", "--since", "\(numbers.last ?? 0)")
    _ = try await daemon.addPaused("c")
    try await following.waitForOutput("job 3")
    try await daemon.ctl("remove", "3")
    try await following.waitForOutput("removed")
    following.kill(SIGINT)
    let result = try await following.result()
    #expect(result.status == 130 && !result.stdout.contains("job 1"))
  }
}
