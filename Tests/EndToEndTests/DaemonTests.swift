import Foundation
import TestSupport
import Testing

@Suite("starting and stopping the daemon", .timeLimit(.minutes(5))) struct DaemonTests {
  @Test("the first command starts the daemon, even with an empty environment, and the daemon outlives the command")
  func autostart() async throws {
    let user = try FreshUser()
    let server = try LoopbackServer(.file(size: 10))
    let added = try await user.ctl("add", server.url("/x"), "-d", user.downloads, "--wait")
    #expect(added.status == 0 && added.stdout == "1\n", "\(added.stderr)")
    #expect(added.isOutputComplete, "the daemon holds none of the command's descriptors")
    #expect(FileManager.default.fileExists(atPath: user.downloads + "/x"))
    let pid = try #require(user.daemonPID)
    #expect(try await user.ctl("daemon", "status").stdout.contains("\(pid)"))
    #expect(try await user.ctl("daemon", "start").stderr.contains("is already running"))
    #expect(try await user.ctl("daemon", "stop").status == 0)
    #expect(
      kill(pid, 0) != 0 || user.daemonPID == nil
        || !FileManager.default.fileExists(atPath: user.runtime + "/transferd/transferd.sock"))
    #expect(try await user.ctl("daemon", "status").status == 3)
    #expect(try await user.ctl("daemon", "reload").status == 3)
    #expect(try await user.ctl("daemon", "stop").status == 0)
    #expect(try await user.ctl("daemon", "start").status == 0)
    #expect(try await user.ctl("status", "--format", "name").stdout == "1\n")
    #expect(try await user.ctl("daemon", "stop").status == 0)
    // Regression: a library logged each orderly stop as an error.
    #expect(!(try String(contentsOfFile: user.state + "/transferd.log", encoding: .utf8).contains(" error ")))
  }

  @Test("a daemon that is started with closed standard descriptors writes its messages into none of its files")
  func closedDescriptors() async throws {
    let daemon = try await Daemon(through: ["/bin/sh", "-c", #"exec "$0" "$@" <&- >&- 2>&-"#])
    let pid = try #require(daemon.pid)
    #expect(try await daemon.ctl("daemon", "status").status == 0)
    for descriptor in 0...2 {
      let link = "/proc/\(pid)/fd/\(descriptor)"
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/null")
    }
    #expect(try String(contentsOfFile: daemon.statePath("transferd.lock"), encoding: .utf8) == "\(pid)\n")
    // The mark of a crash has 64 bytes.
    #expect(try Data(contentsOf: URL(fileURLWithPath: daemon.statePath("transferd.crash"))).count == 64)
  }

  @Test("an idle daemon does not wake up after its work")
  func rest() async throws {
    let server = try LoopbackServer(.file(size: 100_000))
    let daemon = try await Daemon()
    #expect(try await daemon.ctl("add", server.url("/x"), "-o", "x", "--wait").status == 0)
    // Idle threads exit after 5 s.
    let deadline = ContinuousClock.now + .seconds(60)
    var (before, now) = ([String: String](), try daemon.switches)
    while before != now, .now < deadline {
      before = now
      try await Task.sleep(for: .seconds(3))
      now = try daemon.switches
    }
    #expect(before == now)
  }

  @Test(
    "a command waits for the user's own daemon that is delayed, unless a response within 2 s is required")
  func heldUp() async throws {
    let user = try FreshUser()
    #expect(try await user.ctl("daemon", "start").status == 0)
    let pid = try #require(user.daemonPID)
    kill(pid, SIGSTOP)
    let usual = ["TRANSFERCTL_ANSWER_TIMEOUT": ""]
    let waiting = try ChildProcess(user.launch(["status"], environment: usual))
    let strict = try await user.ctl("status", "--no-autostart", environment: usual)
    #expect(strict.status == 3 && strict.stderr.contains("does not respond"), "\(strict.stderr)")
    // The other command has waited equally long.
    kill(pid, SIGCONT)
    let result = try await waiting.result()
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try await user.ctl("daemon", "stop").status == 0)
  }

  @Test("simultaneous commands start one daemon")
  func race() async throws {
    let user = try FreshUser()
    let launch = try user.launch([
      "add", "http://127.0.0.1:9/x", "--paused", "--key", "k", "-d", user.downloads,
    ])
    let results = try await withThrowingTaskGroup(of: ChildProcess.Result.self) { group in
      for _ in 0..<4 { group.addTask { try await launch.run() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.map(\.stdout) == Array(repeating: "1\n", count: 4), "\(results.map(\.stderr))")
    #expect(try await user.ctl("daemon", "stop").status == 0)
  }

  @Test("if the daemon must not be started, every command exits with 3 within 2 s")
  func unreachable() async throws {
    let user = try FreshUser()
    let commands = [
      ["status"], ["add", "http://h/x", "-d", user.downloads], ["wait", "1"], ["pause", "--all"],
      ["batch", "ls"], ["export"], ["daemon", "stop"], ["daemon", "status"],
    ]
    for command in commands {
      let ways: [([String], [String: String])] = [
        (["--no-autostart"], [:]), ([], ["TRANSFERCTL_NO_AUTOSTART": "1"]),
        (["--socket", user.runtime + "/dead"], [:]),
        ([], ["TRANSFERD_SOCKET": user.runtime + "/dead"]),
      ]
      var fastest = Duration.seconds(60)  // the machine may be busy with other tests
      for (arguments, environment) in ways {
        let result = try await user.launch(command + arguments, environment: environment).run()
        #expect(result.status == 3 && result.stdout == "", "\(command + arguments): \(result.stderr)")
        fastest = min(fastest, result.duration)
      }
      for _ in 0..<10 where fastest >= .seconds(2) {
        fastest = min(fastest, try await user.launch(command + ["--no-autostart"]).run().duration)
      }
      #expect(fastest < .seconds(2), "\(command)")
    }
    #expect(!FileManager.default.fileExists(atPath: user.state))
    let version = try await user.ctl("version", "--no-autostart")
    #expect(version.status == 0 && version.stdout.hasPrefix("transferctl "))
  }

  @Test("version prints the versions of both programs, --version only transferctl's")
  func version() async throws {
    let daemon = try await Daemon()
    let lines = try await daemon.ctl("version").lines
    #expect(lines.count == 2 && lines[0].hasPrefix("transferctl ") && lines[1].hasPrefix("transferd "))
    var launch = try daemon.ctlLaunch([])
    launch.arguments = ["--version"]
    #expect(try await launch.run().lines == [lines[0]])
  }

  @Test("reload reads new limits, and keeps the old ones if the file is invalid")
  func reload() async throws {
    let daemon = try await Daemon(config: "transferd:\n  maxActive: 3\n")
    let path = daemon.directory.path("config.yaml")
    #expect(try await daemon.curl("/v1/stats").json["maxActive"] as? Int == 3)
    try "transferd:\n  maxActive: 5\n".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    #expect(try await daemon.curl("/v1/stats").json["maxActive"] as? Int == 5)
    try "transferd:\n  maxActive: -1\n".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status != 0)
    #expect(try await daemon.curl("/v1/stats").json["maxActive"] as? Int == 5)
  }

  @Test("an unknown key or an invalid value prevents the start and is reported")
  func configuration() async throws {
    for (text, words) in [
      ("transferd:\n  maxActve: 3\n", ["config.yaml, line 2", "\"maxActve\""]),
      ("maxActive: 3\n", ["config.yaml, line 1", "below transferd:"]),
      ("transferd:\n  historyDays: never\n", ["config.yaml, line 2", "historyDays", "from 0 to"]),
    ] {
      let daemon = try await Daemon(config: text, isStarted: false)
      let end = try await daemon.launch().result()
      #expect(end.status == 1 && !daemon.notifications.contains("READY=1"))
      for word in words { #expect(end.stderr.contains(word), "\(end.stderr)") }
      #expect(!FileManager.default.fileExists(atPath: daemon.stateDirectory))
    }
  }

  @Test("SIGHUP with an invalid file is logged, and the old settings stay")
  func wrongReload() async throws {
    let daemon = try await Daemon(config: "transferd:\n  maxActive: 3\n")
    try "transferd:\n  maxActive: 5\n  colour: red\n".write(
      toFile: daemon.directory.path("config.yaml"), atomically: true, encoding: .utf8)
    daemon.signal(SIGHUP)
    try await daemon.process?.waitForErrors("cannot reload")
    try await daemon.waitForNotification("READY=1", count: 2)
    #expect(
      daemon.log.contains("config.yaml, line 3: unknown key") && daemon.log.contains("colour"), "\(daemon.log)")
    #expect(try await daemon.curl("/v1/stats").json["maxActive"] as? Int == 3)
  }

  @Test("a log at its size limit becomes transferd.log.1 when a command starts the daemon")
  func log() async throws {
    let user = try FreshUser()
    try FileManager.default.createDirectory(
      atPath: user.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let (log, size) = (user.state + "/transferd.log", 10 << 20)
    try Data(repeating: UInt8(ascii: "x"), count: size).write(to: URL(filePath: log))
    #expect(try await user.ctl("daemon", "start").status == 0)
    #expect(try Data(contentsOf: URL(filePath: log + ".1")).count == size)
    let fresh = try String(contentsOfFile: log, encoding: .utf8)
    #expect(fresh.contains("transferd is ready") && fresh.utf8.count < 10_000)
    #expect(try await user.ctl("daemon", "stop").status == 0)
  }
}
