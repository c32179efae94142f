import Foundation
import Glibc
import TestSupport
import Testing

/// `minFree`, `quota` and `xattr` of the configuration.
@Suite("disks, quota and extended attributes", .timeLimit(.minutes(5))) struct StorageRuleTests {
  private func configure(_ daemon: Daemon, _ lines: String) async throws {
    try ("transferd:\n" + lines).write(
      toFile: daemon.directory.path("config.yaml"), atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
  }

  private func waiting(_ daemon: Daemon, _ id: String) async throws -> [String: Any]? {
    try await daemon.curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any]
  }

  private func expectCompleted(_ daemon: Daemon, _ id: String, _ payload: Payload, as name: String) async throws {
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try sha256(ofFile: daemon.downloaded(name)) == payload.sha256)
  }

  @Test("downloads of every size wait while less than minFree is free, and go on when there is more")
  func minFree() async throws {
    let (small, large) = (Payload(size: 1000, seed: 1), Payload(size: 4 << 20, seed: 2))
    let server = try LoopbackServer(files: ["/small": .file(small), "/large": .file(large)])
    let daemon = try await Daemon(config: "transferd:\n  minFree: 99999999G\n")
    let ids = [
      try await daemon.add(server.url("/small"), "-o", "small"),
      try await daemon.add(server.url("/large"), "-o", "large"),
    ]
    for id in ids {
      try await daemon.failed(with: "disk-full", id)
      try await eventually("the wait for the disk") {
        try await self.waiting(daemon, id)?["reason"] as? String == "disk"
      }
      #expect(try await daemon.job(id).attempt <= 1)
    }
    #expect(server.requests.isEmpty)
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
    try await configure(daemon, "  minFree: 1M\n")
    try await expectCompleted(daemon, ids[0], small, as: "small")
    try await expectCompleted(daemon, ids[1], large, as: "large")
  }

  @Test("a file of unknown length stops at a checkpoint before it takes what has to stay free")
  func minFreeInTransfer() async throws {
    let payload = Payload(size: 24 << 20, seed: 3)
    let server = try LoopbackServer(FileBehaviour.file(payload).chunked())
    let daemon = try await Daemon(config: "transferd:\n  minFree: 30M\n")
    let disk = try await SmallDisk(at: try daemon.directory.directory("disk"), kibibytes: 40 << 10)
    let id = try await daemon.add(server.url("/a"), "-d", disk.path, "-o", "a", "--limit-rate", "4M")
    try await daemon.failed(with: "disk-full", id)
    try await disk.resize(kibibytes: 100 << 10)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try sha256(ofFile: disk.path + "/a") == payload.sha256)
    try await disk.unmount()
  }

  @Test("when the day's bytes are used up, downloads stop and jobs wait, over restarts, until the quota grows")
  func quota() async throws {
    let payload = Payload(size: 6 << 20, seed: 4)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/first": .file(payload), "/second": .file(payload).holding(after: 4 << 20, reached: reached, until: proceed),
    ])
    let daemon = try await Daemon(config: "transferd:\n  quota: 8M/day\n")
    let first = try await daemon.add(server.url("/first"), "-o", "first")
    try await expectCompleted(daemon, first, payload, as: "first")
    let second = try await daemon.add(server.url("/second"), "-o", "second")
    try await reached.wait()
    // It stops by itself: 10 MiB have arrived.
    try await eventually("the second job to wait") {
      try await self.waiting(daemon, second)?["reason"] as? String == "limit"
    }
    let why = try await waiting(daemon, second)
    #expect(why?["until"] is String && (why?["detail"] as? String)?.contains("quota") == true)
    #expect(try await daemon.job(second).state == "queued")
    try await daemon.waitForHistory("quota of the day", of: second)
    let third = try await daemon.add(server.url("/first"), "-o", "third")
    try await daemon.restart(by: SIGKILL)
    for id in [second, third] { #expect(try await waiting(daemon, id)?["reason"] as? String == "limit") }
    #expect(try await daemon.ctl("why", third).stdout.contains("quota"))
    proceed.open()
    try await configure(daemon, "  quota: 1G/day\n")
    try await expectCompleted(daemon, second, payload, as: "second")
    try await expectCompleted(daemon, third, payload, as: "third")
  }

  @Test("a transfer that cannot be resumed is let finish when the quota is used up; other jobs wait")
  func quotaWithoutRanges() async throws {
    let payload = Payload(size: 6 << 20, seed: 6)
    let (reached, proceed, never) = (Gate(), Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/whole": .file(payload).ignoringRange().holding(after: 4 << 20, reached: reached, until: proceed),
      "/other": .file(payload).holding(after: 1 << 20, until: never),
    ])
    let daemon = try await Daemon(config: "transferd:\n  quota: 2M/day\n")
    let whole = try await daemon.add(server.url("/whole"), "-o", "whole")
    try await reached.wait()
    // It may begin before the bytes are counted; then it stops.
    let other = try await daemon.add(server.url("/other"), "-o", "other")
    try await eventually("the other job to wait") {
      try await self.waiting(daemon, other)?["reason"] as? String == "limit"
    }
    #expect(try await daemon.job(whole).state == "running")
    proceed.open()
    try await expectCompleted(daemon, whole, payload, as: "whole")
    #expect(server.requests.count { $0.path == "/whole" } == 1)
    #expect(try await waiting(daemon, other)?["reason"] as? String == "limit")
  }

  @Test("URL and checksum are noted in extended attributes, without secrets")
  func attributes() async throws {
    let payload = Payload(size: 1000, seed: 5)
    let server = try LoopbackServer(.file(payload))
    let daemon = try await Daemon(config: "transferd:\n  xattr: true\n")
    func attribute(_ name: String, _ file: String) async throws -> String {
      let result = try await Launch(
        "/usr/bin/python3",
        ["-c", "import os,sys; print(os.getxattr(sys.argv[1], sys.argv[2]).decode())", daemon.downloaded(file), name]
      ).run()
      return result.stdout.trimmingCharacters(in: .newlines)
    }
    let url = server.url("/a")
    let secret = url.replacingOccurrences(of: "http://", with: "http://me:s3cret@") + "?token=s3cret&x=1"
    let alone = try await daemon.ctl(
      "add", secret, "-d", daemon.downloads, "-o", "a", "--checksum", "sha256=\(payload.sha256)", "--segments", "2",
      "--part-dir", daemon.downloads, "--wait")
    #expect(alone.status == 0, "\(alone.stderr)")
    let grouped = try await daemon.ctl("add", server.url("/b"), "-d", daemon.downloads, "--wait")
    #expect(grouped.status == 0)
    #expect(try await attribute("user.xdg.origin.url", "b") == server.url("/b"))
    let noted = try await attribute("user.xdg.origin.url", "a")
    #expect(noted.hasPrefix(url) && !noted.contains("s3cret"), "\(noted)")
    #expect(try await attribute("user.checksum", "a") == "sha-256=\(payload.sha256)")
  }
}
