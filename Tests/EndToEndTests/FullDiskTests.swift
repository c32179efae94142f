import Foundation
import Glibc
import TestSupport
import Testing

/// A file system without space, which is mounted as root.
@Suite("a full disk", .timeLimit(.minutes(5))) struct FullDiskTests {
  /// The way in which the daemon learns that the space is insufficient.
  enum Discovery: String, CaseIterable { case announcedLength, failingWrite }

  @Test("a job waits for space, others continue, and it completes when there is space", arguments: Discovery.allCases)
  func destination(_ discovery: Discovery) async throws {
    let (large, small) = (Payload(size: 8 << 20, seed: 1), Payload(size: 100_000, seed: 2))
    let file = FileBehaviour.file(large)
    let server = try LoopbackServer(files: [
      "/large": discovery == .failingWrite ? file.chunked() : file, "/small": .file(small),
    ])
    let daemon = try await Daemon()
    let disk = try await SmallDisk(at: try daemon.directory.directory("disk"), kibibytes: 4096)
    let id = try await daemon.add(server.url("/large"), "-d", disk.path, "-o", "large")
    try await daemon.failed(with: "disk-full", id)
    let other = try await daemon.add(server.url("/small"), "-o", "small")
    try await daemon.expectCompleted(other, small, as: "small")
    let waiting = try await daemon.job(id)
    #expect(["retrying", "running"].contains(waiting.state))
    // The attempts are not counted.
    #expect(waiting.attempt <= 1)

    try await disk.resize(kibibytes: 32_768)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try sha256(ofFile: disk.path + "/large") == large.sha256)
    #expect(try daemon.directory.names(in: "disk") == ["large"])
    try await disk.unmount()
  }

  @Test("a full state directory refuses new jobs with a message; the daemon lives, and no printed job is lost")
  func state() async throws {
    let daemon = try await Daemon(isStarted: false)
    let disk = try await SmallDisk(at: try daemon.directory.directory("state"), kibibytes: 2048)
    try await daemon.start()
    let first = try await daemon.add("http://127.0.0.1:9/first", "--paused")
    disk.fill()
    let list = (0..<3000).map { "http://127.0.0.1:9/file\($0)\n" }.joined()
    let refused = try await daemon.ctl("add", "-i", "-", "--paused", input: Data(list.utf8))
    #expect(refused.status == 1)
    #expect(refused.stderr.contains("full"), "\(refused.stderr.prefix(500))")
    let printed = Set(refused.lines + [first])
    #expect(try await daemon.storedIDs() == printed)

    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.storedIDs() == printed)
    try await disk.resize(kibibytes: 32_768)
    let added = try await daemon.add("http://127.0.0.1:9/second", "--paused")
    #expect(try await daemon.storedIDs() == printed.union([added]))
    try await daemon.terminate()
    try await disk.unmount()
  }
}
