import Foundation
import Glibc
import TestSupport
import Testing

/// Slow, lossy and silent networks, made with network namespaces, which need root.
@Suite("a bad network", .timeLimit(.minutes(5))) struct BadNetworkTests {
  private func daemon(in network: BadNetwork) async throws -> Daemon {
    let daemon = try await Daemon(isStarted: false)
    try daemon.launch(through: network.wrapper)
    try await daemon.waitUntilReady()
    return daemon
  }

  @Test("a file arrives at 8 kbit/s with every tenth packet lost")
  func slowAndLossy() async throws {
    let payload = Payload(size: 6000, seed: 1)
    let network = try await BadNetwork()
    let server = try network.perform { try LoopbackServer(.file(payload)) }
    try await network.limit(bitsPerSecond: 8000)
    try await network.drop("numgen random mod 10 0")
    let daemon = try await daemon(in: network)
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    let job = try await daemon.finished(id, timeout: .seconds(200))
    #expect(job.state == "completed", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == payload.sha256)
    #expect(server.requests.count <= 4 && job.attempt <= 4, "\(server.requests.count) requests")
    let computed = try daemon.computed
    #expect(computed < .seconds(3), "no loop: \(computed)")
  }

  @Test("a job on a silent network fails by its own policy, and a retry completes when the network works")
  func blackhole() async throws {
    let payload = Payload(size: 2 << 20, seed: 2)
    let (reached, proceed) = (Gate(), Gate())
    let network = try await BadNetwork()
    let server = try network.perform {
      try LoopbackServer(files: [
        "/a": FileBehaviour.file(payload).holding(after: 1 << 20, reached: reached, until: proceed),
        "/b": .file(payload),
      ])
    }
    let daemon = try await daemon(in: network)
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--stall-timeout", "2s", "--connect-timeout", "1s")
    try await reached.wait()
    try await daemon.waitForParts(holding: 1 << 20)
    try await network.drop("meta l4proto tcp")
    proceed.open()
    try await daemon.failed(with: "stalled", id)
    let lost = try await daemon.add(
      server.url("/b"), "-o", "b", "--connect-timeout", "1s", "--retries", "1")
    let failed = try await daemon.finished(lost)
    #expect(failed.state == "failed" && failed.error?.code == "timeout" && failed.attempt == 2, "\(failed)")
    try await network.dropNothing()
    try await daemon.ctl("retry", id)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == payload.sha256)
    // The received bytes are not requested again.
    #expect(server.requests.filter { $0.path == "/a" }.dropFirst().allSatisfy { $0.start >= 1 << 20 })
  }

  @Test("a host with a dead IPv6 address is soon reached by its IPv4 address")
  func deadIPv6() async throws {
    let payload = Payload(size: 100_000, seed: 3)
    let network = try await BadNetwork(hosts: "fd00::1 dual.test\n127.0.0.1 dual.test")
    try await network.run("ip", "address", "add", "fd00::1/128", "dev", "lo", "nodad")
    try await network.drop("ip6 daddr fd00::1")
    let server = try network.perform { try LoopbackServer(.file(payload)) }
    let daemon = try await daemon(in: network)
    let url = server.url("/a").replacingOccurrences(of: "127.0.0.1", with: "dual.test")
    // It does not wait for the connect timeout.
    let id = try await daemon.add(url, "-o", "a", "--connect-timeout", "10m")
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(try await daemon.job(id).attempt == 1)
    let attempts = try await daemon.curl("/v1/jobs/\(id)").json["attempts"] as? [[String: Any]]
    let address = try #require(attempts?.first?["remoteAddress"] as? String)
    #expect(address.hasPrefix("127.0.0.1"), "\(address)")
  }

  @Test("a job that would wait an hour for the network continues when the kernel reports a route")
  func networkReturns() async throws {
    let payload = Payload(size: 100_000, seed: 4)
    let network = try await BadNetwork()
    try await network.run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far")
    try await network.run("ip", "address", "add", "192.0.2.2/24", "dev", "near")
    try await network.run("ip", "link", "set", "far", "up")
    try await network.run("ip", "link", "set", "near", "up")
    let server = try network.perform { try LoopbackServer(.file(payload)) }
    try await network.drop("meta l4proto tcp")
    let daemon = try await daemon(in: network)
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--connect-timeout", "1s")
    let events = try daemon.ctlStarted("events", id, "--follow")
    try await events.waitForOutput("running -> retrying")
    events.signalGroup(SIGKILL)
    // The delay after many failures.
    _ = try await daemon.terminate()
    // An attempt may have been running.
    let sql = """
      UPDATE job SET state = 'retrying', retry_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000 + 3600000,
      retry_delay = 3600000 WHERE state IN ('retrying', 'queued')
      """
    let change =
      "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); print(db.execute(sys.argv[2]).rowcount); db.commit()"
    let python = Launch(try BuiltPrograms.system("python3"), ["-c", change, daemon.statePath("transferd.db"), sql])
    #expect(try await python.runSuccessfully().lines == ["1"])
    try daemon.launch(through: network.wrapper)
    try await daemon.waitUntilReady()
    try await network.dropNothing()
    #expect(try await daemon.job(id).state == "retrying", "it does not retry by itself")
    try await network.run("ip", "route", "add", "default", "via", "192.0.2.1")
    try await daemon.expectCompleted(id, payload, as: "a")
  }
}
