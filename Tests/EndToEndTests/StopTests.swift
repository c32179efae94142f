import Foundation
import TestSupport
import Testing

/// The daemon's reaction to signals.
@Suite("signals", .timeLimit(.minutes(5))) struct StopTests {
  @Test("SIGTERM and SIGINT end the daemon with 0, and no byte is downloaded again", arguments: [SIGTERM, SIGINT])
  func cleanStop(signal: Int32) async throws {
    let payload = Payload(size: 6 << 20, seed: 1)
    let jobs = 4
    let server = try LoopbackServer(
      files: Dictionary(
        uniqueKeysWithValues: (0..<jobs).map { number in
          ("/\(number)", .file(payload).holding(after: 4 << 20, until: Gate()))
        }))
    let daemon = try await Daemon()
    var ids: [String] = []
    for number in 0..<jobs { ids.append(try await daemon.add(server.url("/\(number)"), "-o", "\(number)")) }
    try await daemon.waitForParts(jobs, holding: 4 << 20)
    daemon.signal(signal)
    let end = try #require(try await daemon.process?.result())
    #expect(end.ending == .exit(0), "\(end.stderr)")
    #expect(!FileManager.default.fileExists(atPath: daemon.socketPath))
    let kept = try daemon.partSizes

    try await daemon.start()
    for id in ids { #expect(try await daemon.finished(id).state == "completed") }
    let resumed = server.requests.filter { $0.start > 0 }.map(\.start)
    #expect(resumed.sorted() == kept.sorted())
    #expect(server.requests.count == 2 * jobs)
    for number in 0..<jobs { #expect(try sha256(ofFile: daemon.downloaded("\(number)")) == payload.sha256) }
  }

  @Test("an idle daemon stops at once with 0")
  func idleStop() async throws {
    var fastest = Duration.seconds(3600)  // the machine may be busy with other tests
    for _ in 0..<5 where fastest >= .seconds(5) {
      let stop = try await Daemon().terminate()
      #expect(stop.ending == .exit(0))
      fastest = min(fastest, stop.duration)
    }
    #expect(fastest < .seconds(5))
  }

  @Test("SIGHUP reads new limits, and a broken file changes nothing")
  func reload() async throws {
    let server = try LoopbackServer(.file(size: 1000).holding(after: 10, until: Gate(), on: .always))
    let daemon = try await Daemon(config: "transferd:\n  maxActive: 1\n")
    for name in ["a", "b", "c"] { _ = try await daemon.add(server.url("/"), "-o", name) }
    try await server.waitForRequests(1)
    #expect(try await daemon.jobs("--state", "running").count == 1)

    try daemon.directory.file("config.yaml", text: "transferd:\n  maxActive: none\n")
    daemon.signal(SIGHUP)
    try await daemon.waitForNotification("READY=1", count: 2)
    #expect(try await daemon.jobs("--state", "running").count == 1)
    try await daemon.process?.waitForErrors("maxActive")

    try daemon.directory.file("config.yaml", text: "transferd:\n  maxActive: 3\n")
    daemon.signal(SIGHUP)
    try await server.waitForRequests(3)
    #expect(try await daemon.jobs("--state", "running").count == 3)
  }

  @Test("a daemon that is stopped and continued resumes its transfers")
  func stopped() async throws {
    let payload = Payload(size: 8 << 20, seed: 2)
    let reached = Gate()
    let server = try LoopbackServer(
      .file(payload).interrupting(after: 1 << 20, with: .signal(reached), .drip(bytesPerSecond: 8 << 20)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--stall-timeout", "1")
    try await reached.wait()
    daemon.signal(SIGSTOP)
    // The pause must be longer than the stall timeout, so this waits for time.
    try await Task.sleep(for: .milliseconds(1500))
    daemon.signal(SIGCONT)
    try await daemon.expectCompleted(id, payload, as: "a")
    // If the attempt failed, the next one resumes.
    let starts = server.requests.map(\.start)
    #expect(starts == starts.sorted())
  }
}

/// The daemon's messages to the service manager.
@Suite("notifications", .timeLimit(.minutes(5))) struct NotificationTests {
  @Test("the socket responds when READY=1 is sent")
  func ready() async throws {
    // The fixture connects as soon as it receives READY=1, and throws if the socket does not respond.
    let daemon = try await Daemon()
    for _ in 0..<5 { try await daemon.restart(by: SIGKILL) }
    #expect(try await daemon.ctl("status").status == 0)
  }

  @Test("WATCHDOG=1 is sent regularly, but not by a stopped daemon")
  func watchdog() async throws {
    let daemon = try await Daemon(environment: ["WATCHDOG_USEC": "200000"])
    try await daemon.waitForNotification("WATCHDOG=1", count: 5)
    daemon.signal(SIGSTOP)
    // A running daemon would send five in that time.
    var heard = 0
    try await eventually("no more messages") {
      heard = daemon.notifications.count { $0 == "WATCHDOG=1" }
      try await Task.sleep(for: .milliseconds(500))
      return daemon.notifications.count { $0 == "WATCHDOG=1" } == heard
    }
    daemon.signal(SIGCONT)
    try await daemon.waitForNotification("WATCHDOG=1", count: heard + 2)
  }

  @Test("STOPPING=1 is sent before the end")
  func stopping() async throws {
    let daemon = try await Daemon()
    try await daemon.terminate()
    try await daemon.waitForNotification("STOPPING=1")
  }
}
