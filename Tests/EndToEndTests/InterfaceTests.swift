import Foundation
import Glibc
import TestSupport
import Testing

/// `--interface`.
@Suite("interface", .timeLimit(.minutes(5))) struct InterfaceTests {
  private static var unusedName: String { "td\(UInt32.random(in: 0...0xFFFF_FFFF))" }

  private func waiting(_ daemon: Daemon, _ id: String) async throws -> [String: Any]? {
    try await daemon.curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any]
  }

  @Test("downloads and uploads leave by the interface, and beside them jobs that name none")
  func loopback() async throws {
    let server = try LoopbackServer { $0.method == "PUT" ? .response(201) : .response(200, body: Data("x".utf8)) }
    let daemon = try await Daemon()
    for name in ["a", "b"] {
      let result = try await daemon.ctl(
        "add", server.url("/\(name)"), "-d", daemon.downloads, "--interface", "lo", "--wait")
      #expect(result.status == 0, "\(result.stderr)")
    }
    let source = try daemon.source("s", Payload(size: 10))
    let upload = try await daemon.ctl("upload", source, "--to", server.url("/s"), "--interface", "lo", "--wait")
    #expect(upload.status == 0, "\(upload.stderr)")
    #expect(try await daemon.ctl("add", server.url("/c"), "-d", daemon.downloads, "--wait").status == 0)
    let shown = try await daemon.curl("/v1/jobs/1").json["options"] as? [String: Any]
    #expect(shown?["interface"] as? String == "lo")
    #expect(try await daemon.ctl("show", "1").stdout.contains("interface"))
  }

  @Test("a job waits with the reason network while its interface is missing, over a restart, until it is there")
  func missing() async throws {
    let cable = Self.unusedName
    let server = try LoopbackServer(.file(size: 10))
    let daemon = try await Daemon()
    let down = try await daemon.add(server.url("/a"), "-o", "a", "--interface", cable)
    let up = try await daemon.upload(
      try daemon.source("s", Payload(size: 10)), "--to", server.url("/s"), "--interface", cable)
    for id in [down, up] {
      try await daemon.reached("retrying", by: id)
      #expect(try await waiting(daemon, id)?["reason"] as? String == "network")
      let job = try await daemon.job(id)
      #expect(job.error?.code == "network" && job.error?.transient == true && job.attempt <= 1)
      #expect(job.error?.message.contains(cable) == true)
    }
    let why = try await daemon.ctl("why", down)
    #expect(why.status == 0 && why.stdout.contains("network interface \(cable)"), "\(why.stdout)")
    try await daemon.restart(by: SIGKILL)
    try await daemon.reached("retrying", by: down)
    #expect(try await waiting(daemon, down)?["reason"] as? String == "network")
    #expect(server.requests.isEmpty)
  }

  @Test("a new interface is noticed")
  func appears() async throws {
    let server = try LoopbackServer(.file(size: 10))
    let daemon = try await Daemon()
    let cable = Self.unusedName
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--interface", cable, "--connect-timeout", "1")
    try await daemon.failed(with: "network", id)
    try await Launch(
      BuiltPrograms.system("ip"), ["link", "add", cable, "type", "veth", "peer", "name", cable + "p"]
    ).runSuccessfully()
    defer { _ = try? Process.run(URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", "ip link del \(cable)"]) }
    // The loopback server cannot be reached through a cable.
    try await eventually("another failure than the missing interface") {
      guard let error = try await daemon.job(id).error else { return false }
      return error.code != "network"
    }
    #expect(server.requests.isEmpty)
  }

  @Test("a wrong name is refused", arguments: ["", "a/b", "sixteen-letters-", "a b"])
  func wrong(_ name: String) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads, "--interface", name])
    #expect(result.status == 64 && result.stderr.contains("interface"), "\(result.stderr)")
    #expect(try await daemon.jobs().isEmpty)
  }
}
